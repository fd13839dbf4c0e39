"""The image that the tests and benchmarks run in: Debian with Python and pip, made by debootstrap.

It stands in for the official python:3.11-slim, which would have to come from a registry: `python`
beside `python3`, pip that installs into the system, no documentation. It is made once, from where
this machine's apt gets its packages, and kept in .deps/images under a name that says what it is made
of. `python3 base_image.py` makes it if it is missing and prints its path.
"""

import hashlib
import json
import os
import pathlib
import platform
import shutil
import sys
import tarfile
import tempfile

import debian

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / ".deps" / "images"
NAME = "python:3.11-slim"
SUITE = "bookworm"  # whose python3 is 3.11
PACKAGES = ["python3", "python3-pip"]

# Left out of the image: what nothing in it reads, and what says that apt owns the packages.
UNUSED = ["var/cache", "var/lib/apt/lists", "var/log", "usr/share/doc", "usr/share/man",
          "usr/share/locale", "usr/share/info", "usr/share/lintian", "debootstrap", "dev", "proc",
          "sys", "tmp", "usr/lib/python3.11/EXTERNALLY-MANAGED"]


def pack(root, path):
    """Writes the tree ROOT as the tar PATH, in place at once when it is whole."""
    def wanted(entry):
        name = entry.name.removeprefix("./")
        unused = any(name.startswith(prefix + "/") for prefix in UNUSED) or name in UNUSED[-1:]
        return None if unused else entry

    (root / "usr/bin/python").symlink_to("python3")
    aside = path.with_suffix(f".{os.getpid()}")
    try:
        with tarfile.open(aside, "w", format=tarfile.GNU_FORMAT) as archive:
            archive.add(root, ".", filter=wanted)
        aside.rename(path)
    finally:
        aside.unlink(missing_ok=True)


def place():
    """Where the image is kept."""
    recipe = [SUITE, debian.mirror(), PACKAGES, UNUSED, platform.machine()]
    key = hashlib.sha256(json.dumps(recipe).encode()).hexdigest()[:12]
    return CACHE / f"python-slim-{key}.tar"


def base_image():
    """The path of the image's tree as a tar, made first when it is missing."""
    path = place()
    if path.exists():
        return path
    if os.geteuid() != 0:
        raise debian.NoDebian(f"no {path.relative_to(ROOT)}, and only root can make it")
    CACHE.mkdir(parents=True, exist_ok=True)
    root = pathlib.Path(tempfile.mkdtemp(prefix="base-", dir=CACHE))
    try:
        root.chmod(0o755)
        debian.bootstrap(SUITE, root, PACKAGES)
        pack(root, path)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return path


if __name__ == "__main__":
    try:
        if sys.argv[1:] == ["--is-there"]:
            sys.exit(not place().exists())
        print(base_image())
    except debian.NoDebian as reason:
        sys.exit(f"base_image: {reason}")
