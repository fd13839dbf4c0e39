"""What a container image of pyexecd is built from, as a compressed tar on standard output.

    image.py WHEEL >pyexecd-image.tar.gz
    docker build --tag pyexecd - <pyexecd-image.tar.gz

It has the Dockerfile, the configurations and the programs of WHEEL. The same wheel has the same tar.
"""

import pathlib
import sys

import archive
from wheel import Wheel

PARTS = pathlib.Path(__file__).with_name("image")


def files(wheel):
    """path -> (contents, mode)"""
    found = {path.name: (path.read_bytes(), 0o644) for path in sorted(PARTS.iterdir())}
    version = f'LABEL org.opencontainers.image.version="{wheel.version}"\n'
    found["Dockerfile"] = (found["Dockerfile"][0] + version.encode(), 0o644)
    return {**found, **wheel.placed("pyexecd", "licenses")}


if __name__ == "__main__":
    archive.write(files(Wheel(sys.argv[1])), sys.stdout.buffer)
