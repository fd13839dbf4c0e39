#!/usr/bin/env python3
"""Turns the profile of system calls into a C file with its text (see seccomp_profile.h).

usage: embed.py OUTPUT.c PROFILE.json
"""

import json
import sys
from pathlib import Path


def main():
    output, profile = map(Path, sys.argv[1:])
    text = json.dumps(json.loads(profile.read_text("utf-8")), separators=(",", ":"))
    parts = (text[start : start + 80] for start in range(0, len(text), 80))
    quoted = ('    "' + part.replace("\\", "\\\\").replace('"', '\\"') + '"' for part in parts)
    output.write_text(
        "/* Made by embed.py. */\n"
        '#include "environments/docker/seccomp_profile.h"\n\n'
        "const char seccomp_profile[] =\n" + "\n".join(quoted) + ";\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
