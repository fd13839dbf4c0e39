"""What a container image of pyexecd is built from, as a compressed tar on standard output.

    image.py WHEEL >pyexecd-image.tar.gz
    docker build --tag pyexecd - <pyexecd-image.tar.gz

It has the Dockerfile, the configurations and the programs of WHEEL. The same wheel has the same tar.
"""

import gzip
import io
import pathlib
import sys
import tarfile

from wheel import Wheel, epoch

PARTS = pathlib.Path(__file__).with_name("image")


def files(wheel):
    """path -> (contents, mode)"""
    found = {path.name: (path.read_bytes(), 0o644) for path in sorted(PARTS.iterdir())}
    version = f'LABEL org.opencontainers.image.version="{wheel.version}"\n'
    found["Dockerfile"] = (found["Dockerfile"][0] + version.encode(), 0o644)
    return {**found, **wheel.placed("pyexecd", "licenses")}


def write(wheel, output):
    with gzip.GzipFile(filename="", fileobj=output, mode="wb", mtime=epoch()) as compressed, \
            tarfile.open(fileobj=compressed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, (contents, mode) in files(wheel).items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(contents), mode, epoch()
            archive.addfile(entry, io.BytesIO(contents))


if __name__ == "__main__":
    write(Wheel(sys.argv[1]), sys.stdout.buffer)
