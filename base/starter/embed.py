#!/usr/bin/env python3
"""Turns the files of the starter into a C file with an archive of them (see starter_archive.h).

usage: embed.py OUTPUT.c FILE.py...

Of what every Python or every zygote loads it holds the bytecode, too, as the Python that runs this makes it. A Python of the
same version takes that and saves most of what they cost; others compile the source.
"""

import io
import py_compile
import sys
import tempfile
import zipfile
from pathlib import Path

PLACE = "/proc/self/fd/100"  # STARTER_PATH in starter.c: so files are called in the stacks of a Python that compiles them
COMPILED = ("sitecustomize", "hidden", "session", "lender", "tools")
DATE = (1980, 1, 1, 0, 0, 0)  # the same files make the same archive


def bytecode_of(file):
    """It is taken without a look at the source."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "compiled")
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(file, target, f"{PLACE}/{file.name}", doraise=True, invalidation_mode=unchecked)
        return target.read_bytes()


def archive_of(files):
    made = io.BytesIO()
    members = {file.name: file.read_bytes() for file in files}
    for file in files:
        if file.stem not in COMPILED:
            continue
        members[f"{file.name}c"] = bytecode_of(file)
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, DATE), data)
    return made.getvalue()


def main():
    output, *files = map(Path, sys.argv[1:])
    data = archive_of(files)
    lines = (", ".join(map(str, data[start : start + 20])) for start in range(0, len(data), 20))
    output.write_text(
        "/* Made by embed.py. */\n"
        '#include "base/starter/starter_archive.h"\n\n'
        "const unsigned char starter_archive[] = {\n    " + ",\n    ".join(lines) + "};\n"
        f"const size_t starter_archive_length = {len(data)};\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
