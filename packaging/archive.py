"""A compressed tar that is equal whenever it is made."""

import gzip
import io
import tarfile

from wheel import epoch


def write(files, output):
    """FILES is path -> (contents, mode)."""
    with gzip.GzipFile(filename="", fileobj=output, mode="wb", mtime=epoch()) as compressed, \
            tarfile.open(fileobj=compressed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, (contents, mode) in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(contents), mode, epoch()
            archive.addfile(entry, io.BytesIO(contents))
