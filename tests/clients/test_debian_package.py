"""The Debian package that `./dev deb` makes: installed, run and removed on a machine that has nothing
but Debian and Python."""

import os
import platform
import subprocess

import installed
import pytest

pytestmark = pytest.mark.heavy

PYTHON = "/usr/bin/python3"
SECONDS = 900


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a machine")
@pytest.mark.parametrize("release", [pytest.param("12", marks=pytest.mark.release), "13"])
def test_it_is_installed_runs_and_is_removed(deb, release):
    """Built on Debian 12 it is for both: the libraries of 13 have the names of those of 12, too."""
    if int(release) < int(platform.freedesktop_os_release()["VERSION_ID"]):
        pytest.skip("a package is for the release that it is built on, and newer ones")
    # In a process of its own: what makes machines has modules with the names of others here.
    done = subprocess.run([PYTHON, installed.ROOT / "tests/fresh/package.py", release, deb], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout
    assert "\n42\n" in done.stdout and done.stdout.endswith("all of it\n"), done.stdout
