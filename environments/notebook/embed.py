#!/usr/bin/env python3
"""Turns the programs of sessions into a C file (see driver.h). What begins the first one has its TEXT.

usage: embed.py OUTPUT.c BEGIN.py SESSION.py KERNEL.py
"""

import sys
from pathlib import Path


def text(name, lines):
    quoted = ('    "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in lines)
    return f"\nconst char {name}[] =\n" + "\n".join(quoted) + ";\n"


def main():
    output, begin, session, kernel = map(Path, sys.argv[1:])
    lines = [f"TEXT = {session.read_text('ascii')!r}", *begin.read_text("ascii").splitlines()]
    output.write_text(
        "/* Made by embed.py. */\n"
        '#include "environments/notebook/driver.h"\n'
        + text("notebook_driver", lines) + text("notebook_kernel_driver", kernel.read_text("ascii").splitlines()),
        "utf-8",
    )


if __name__ == "__main__":
    main()
