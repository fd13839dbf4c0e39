#!/usr/bin/env python3
"""Turns the files of the starter into a C file with an archive of them (see starter_archive.h).

usage: embed.py OUTPUT.c FILE.py...
"""

import io
import sys
import zipfile
from pathlib import Path

DATE = (1980, 1, 1, 0, 0, 0)  # the same files make the same archive


def archive_of(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for file in files:
            archive.writestr(zipfile.ZipInfo(file.name, DATE), file.read_bytes())
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
