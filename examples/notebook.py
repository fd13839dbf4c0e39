#!/usr/bin/env python3
"""A session, cell by cell, as in a notebook.

    python3 examples/notebook.py pyexecd --config examples/sessions.yaml
"""

import sys

from client import Client

CELLS = [
    "import random\nrandom.seed(1)\nthrows = [random.randint(1, 6) for _ in range(6000)]",
    "sum(throws) / len(throws)",
    "throws.index(7)",  # fails, and changes nothing
    "while True:\n    throws.append(6)\n    del throws[0]",  # is interrupted
    "set(throws)",
]


def main():
    with Client(*sys.argv[1:]) as client:
        name = "new"
        for number, code in enumerate(CELLS, 1):
            result = client.run_python(code, session=name, timeout=1)
            name = result["session"]["name"]
            print(f"[{number}]", code.replace("\n", "\n    "))
            print(result["stdout"] or result["stderr"].strip().rpartition("\n")[2])


if __name__ == "__main__":
    main()
