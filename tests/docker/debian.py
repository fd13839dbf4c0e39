"""A small Debian in a folder, by debootstrap, from where this machine's apt gets its packages."""

import os
import pathlib
import shutil
import subprocess

MAKE_TIMEOUT = 600
# What it mounts and starts is gone with it, however it ends.
ALONE = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child",
         "--mount-proc", "--"]


class NoDebian(Exception):
    """No Debian can be made here; the message says why."""


def release():
    """The code name of this machine's Debian."""
    for line in pathlib.Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2]
    raise NoDebian("/etc/os-release names no release")


def sources():
    """(suite, component, site) of every source of packages that apt on this machine has."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(SITE)",
                           "Created-By: Packages"], capture_output=True, text=True)
    return list(dict.fromkeys(tuple(line.split(maxsplit=2)) for line in done.stdout.splitlines()))


def mirror():
    """Where apt on this machine has Debian from: every release of it is there."""
    for suite, component, site in sources():
        if (suite, component) == (release(), "main"):
            return site
    raise NoDebian(f"apt has no sources for {release()} main")


def proxy():
    """The variables that make debootstrap use apt's own proxy."""
    done = subprocess.run(["apt-config", "shell", "found", "Acquire::http::Proxy/f"],
                          capture_output=True, text=True)
    value = done.stdout.strip().removeprefix("found='").removesuffix("'")
    return {"http_proxy": value} if value else {}


def bootstrap(suite, root, packages=(), ubuntu=None):
    """Unpacks and configures the Debian SUITE with PACKAGES in the folder ROOT; of Ubuntu, if that has a mirror."""
    include = [f"--include={','.join(packages)}"] if packages else []
    if ubuntu:  # whose releases are all alike; debootstrap of Debian 12 does not know those after 2022
        include.append("--components=main,universe")
    site = [ubuntu, "/usr/share/debootstrap/scripts/gutsy"] if ubuntu else [mirror()]
    command = [*ALONE, "debootstrap", "--variant=minbase", *include, suite, str(root), *site]
    if not shutil.which("debootstrap"):
        raise NoDebian("no debootstrap; ./dev deps installs it")
    try:
        done = subprocess.run(command, env={**os.environ, **proxy()}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=MAKE_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise NoDebian(f"debootstrap took more than {MAKE_TIMEOUT} s") from None
    if done.returncode != 0:
        lines = "; ".join(done.stdout.splitlines()[-5:])
        raise NoDebian(f"debootstrap ended with {done.returncode}: {lines}")
