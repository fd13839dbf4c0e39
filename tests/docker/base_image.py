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
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / ".deps" / "images"
NAME = "python:3.11-slim"
PACKAGES = "python3,python3-pip"
MAKE_TIMEOUT = 600

# Left out of the image: what nothing in it reads, and what says that apt owns the packages.
UNUSED = ["var/cache", "var/lib/apt/lists", "var/log", "usr/share/doc", "usr/share/man",
          "usr/share/locale", "usr/share/info", "usr/share/lintian", "debootstrap", "dev", "proc",
          "sys", "tmp", "usr/lib/python3.11/EXTERNALLY-MANAGED"]


class NoImage(Exception):
    """The image cannot be made; the message says why."""


def release():
    """The code name of this Debian."""
    for line in pathlib.Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2]
    raise NoImage("/etc/os-release names no release")


def mirror(suite):
    """Where apt on this machine has SUITE from."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(SITE)",
                           "Created-By: Packages"], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        name, component, site = line.split(maxsplit=2)
        if (name, component) == (suite, "main"):
            return site
    raise NoImage(f"apt has no sources for {suite} main")


def proxy():
    """The variables that make debootstrap use apt's own proxy."""
    done = subprocess.run(["apt-config", "shell", "found", "Acquire::http::Proxy/f"],
                          capture_output=True, text=True)
    value = done.stdout.strip().removeprefix("found='").removesuffix("'")
    return {"http_proxy": value} if value else {}


def bootstrap(suite, site, root):
    """Unpacks and configures a small Debian in the folder ROOT."""
    command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, str(root), site]
    try:
        done = subprocess.run(command, env={**os.environ, **proxy()}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=MAKE_TIMEOUT)
    except FileNotFoundError:
        raise NoImage("no debootstrap; ./dev deps installs it") from None
    except subprocess.TimeoutExpired:
        raise NoImage(f"debootstrap took more than {MAKE_TIMEOUT} s") from None
    if done.returncode != 0:
        lines = "; ".join(done.stdout.splitlines()[-5:])
        raise NoImage(f"debootstrap ended with {done.returncode}: {lines}")


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


def place(suite, site):
    """Where the image of Debian SUITE from SITE is kept."""
    recipe = [suite, site, PACKAGES, UNUSED, platform.machine()]
    key = hashlib.sha256(json.dumps(recipe).encode()).hexdigest()[:12]
    return CACHE / f"python-slim-{key}.tar"


def base_image():
    """The path of the image's tree as a tar, made first when it is missing."""
    suite = release()
    site = mirror(suite)
    path = place(suite, site)
    if path.exists():
        return path
    if os.geteuid() != 0:
        raise NoImage(f"no {path.relative_to(ROOT)}, and only root can make it")
    CACHE.mkdir(parents=True, exist_ok=True)
    root = pathlib.Path(tempfile.mkdtemp(prefix="base-", dir=CACHE))
    try:
        root.chmod(0o755)
        bootstrap(suite, site, root)
        pack(root, path)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return path


if __name__ == "__main__":
    try:
        if sys.argv[1:] == ["--is-there"]:
            sys.exit(not place(release(), mirror(release())).exists())
        print(base_image())
    except NoImage as reason:
        sys.exit(f"base_image: {reason}")
