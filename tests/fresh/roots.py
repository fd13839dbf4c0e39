"""Roots of Debian that machine.py unpacks: made by debootstrap once, kept in .deps/fresh.

`python3 roots.py` makes those that tests install packages of ours in, but for a release.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import machine

import debian  # found by machine.py

CACHE = (machine.ROOT / ".deps" / "fresh").resolve()
RELEASES = {"12": "bookworm", "13": "trixie"}  # those that are supported
UBUNTU = {"24.04": "noble"}  # tried where UBUNTU_MIRROR names a mirror
PYTHON = ("python3", "python3-venv")  # Debian keeps a part of the standard library, venv, apart
# And what the tests of the pages need, and the pages themselves.
PAGES = (*PYTHON, "curl", "openssl", "procps", "python3-jsonschema", "python3-pytest")


def path_of(suite, packages):
    return CACHE / f"{'-'.join([suite, *packages])}.tar"


def of_release(release, packages=()):
    """The tar of a release of Debian or Ubuntu."""
    if release in UBUNTU:
        return base(UBUNTU[release], packages, os.environ["UBUNTU_MIRROR"])
    return base(RELEASES[release], packages)


def base(suite, packages=(), ubuntu=None):
    """The tar of a Debian SUITE that has PACKAGES and nothing else, made when it is missing. UBUNTU is a mirror."""
    path = path_of(suite, packages)
    if path.exists():
        return path
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="base-", dir=CACHE) as folder:
        root = pathlib.Path(folder) / "root"
        debian.bootstrap(suite, root, packages, ubuntu)
        root.chmod(0o755)
        (root / "tmp").chmod(0o1777)
        subprocess.run(["chroot", root, "apt-get", "clean"], check=True)
        packed = pathlib.Path(folder) / "tar"
        subprocess.run(["tar", "--create", "--file", packed, "--directory", root,
                        "--numeric-owner", "."], check=True)
        packed.rename(path)
    return path


if __name__ == "__main__":
    try:
        for suite in RELEASES.values():
            print(base(suite, PYTHON))
        print(base(RELEASES["13"], PAGES))
    except debian.NoDebian as reason:
        sys.exit(f"roots: {reason}")
