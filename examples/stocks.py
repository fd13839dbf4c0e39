#!/usr/bin/env python3
"""What two stocks have gained in a year, out of a local file that goes with the call.

    python3 examples/stocks.py pyexecd
"""

import pathlib
import sys

from client import Client

CODE = """
import csv

with open("stocks.csv", newline="") as file:
    rows = list(csv.DictReader(file))
for stock in [name for name in rows[0] if name != "date"]:
    first, last = float(rows[0][stock]), float(rows[-1][stock])
    print(f"{stock}: {first:.2f} to {last:.2f}, {last / first - 1:+.1%}")
"""


def main():
    prices = pathlib.Path(__file__).with_name("stocks.csv").read_text("utf-8")
    with Client(*sys.argv[1:]) as client:
        result = client.run_python(CODE, files=[{"path": "stocks.csv", "text": prices}])
        print(result["stdout"], end="")
        sys.exit(None if result["success"] else result["stderr"] or result["error"])


if __name__ == "__main__":
    main()
