#!/usr/bin/env python3
"""Turns what begins a session, with the TEXT of its program, into a C file with one text (see driver.h).

usage: embed.py OUTPUT.c BEGIN.py PROGRAM.py
"""

import sys
from pathlib import Path


def main():
    output, begin, program = map(Path, sys.argv[1:])
    lines = [f"TEXT = {program.read_text('ascii')!r}", *begin.read_text("ascii").splitlines()]
    quoted = ('    "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in lines)
    output.write_text(
        "/* Made by embed.py. */\n"
        '#include "environments/notebook/driver.h"\n\n'
        "const char notebook_driver[] =\n" + "\n".join(quoted) + ";\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
