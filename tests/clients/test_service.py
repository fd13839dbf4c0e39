"""The page about a service for a team, typed on a machine with Debian and systemd."""

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
def test_the_page_is_true(deb, release):
    if int(release) < int(platform.freedesktop_os_release()["VERSION_ID"]):
        pytest.skip("a package is for the release that it is built on, and newer ones")
    # In a process of its own: what makes machines has modules with the names of others here.
    done = subprocess.run([PYTHON, installed.ROOT / "tests/fresh/service.py", release, deb], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout
