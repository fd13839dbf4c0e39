#!/usr/bin/env python3
"""Turns the program of a session, with the texts of its PARTS, into a C file with one text (see driver.h).

usage: embed.py OUTPUT.c PROGRAM.py PART.py...
"""

import sys
from pathlib import Path


def main():
    output, program, *parts = map(Path, sys.argv[1:])
    texts = {part.stem: part.read_text("ascii") for part in parts}
    lines = [f"PARTS = {texts!r}", *program.read_text("ascii").splitlines()]
    quoted = ('    "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in lines)
    output.write_text(
        "/* Made by embed.py. */\n"
        '#include "environments/notebook/driver.h"\n\n'
        "const char notebook_driver[] =\n" + "\n".join(quoted) + ";\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
