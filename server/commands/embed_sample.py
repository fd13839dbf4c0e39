#!/usr/bin/env python3
"""Turns a configuration into a C file with its text (see sample.h), in which every line is a comment: who writes it
changes nothing yet.

usage: embed_sample.py CONFIG.yaml OUTPUT.c
"""

import json
import sys
from pathlib import Path

HEAD = """# A configuration of pyexecd. Every line is a comment, and shows a key with its default or with an example: remove the
# "# " before a key to set it. All keys are described in docs/configuration.md and pyexecd.yaml(5).
# `pyexecd --check-config FILE` reports all errors of a file at once.
"""


def main():
    source, output = map(Path, sys.argv[1:])
    _, _, body = source.read_text("ascii").partition("\n\n")
    lines = [line if line.startswith("#") or not line.strip() else f"# {line}" for line in body.splitlines(keepends=True)]
    literals = "\n    ".join(json.dumps(line) for line in [*HEAD.splitlines(keepends=True), "\n", *lines])
    output.write_text(f'#include "server/commands/sample.h"\n\nconst char sample_text[] =\n    {literals};\n', "ascii")


if __name__ == "__main__":
    main()
