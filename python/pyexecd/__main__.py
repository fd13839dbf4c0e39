"""`python -m pyexecd` is the program `pyexecd` with the same arguments."""

from __future__ import annotations

import os
import sys

from pyexecd.errors import ConnectionLost
from pyexecd.process import find_program


def main() -> None:
    try:
        program = find_program()
    except ConnectionLost as error:
        sys.exit(f"pyexecd: {error}")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
