#!/usr/bin/env python3
"""Joins the program of a session with the texts of its PARTS (see driver.py).

usage: join.py OUTPUT.py PROGRAM.py PART.py...
"""

import sys
from pathlib import Path


def main():
    output, program, *parts = map(Path, sys.argv[1:])
    texts = {part.stem: part.read_text("ascii") for part in parts}
    output.write_text(f"PARTS = {texts!r}\n{program.read_text('ascii')}", "ascii")


if __name__ == "__main__":
    main()
