"""The Debian package that `./dev deb` makes: installed, run and removed on a machine that has nothing
but Debian and Python."""

import os
import subprocess

import installed
import pytest

pytestmark = pytest.mark.serial  # to build fills the machine

PYTHON = "/usr/bin/python3"
NO_MACHINE = 77
SECONDS = 900


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a machine")
def test_it_is_installed_runs_and_is_removed(deb):
    # In a process of its own: what makes machines has modules with the names of others here.
    done = subprocess.run([PYTHON, installed.ROOT / "tests/fresh/package.py", deb], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    if done.returncode == NO_MACHINE:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout
    assert "\n42\n" in done.stdout and done.stdout.endswith("all of it\n"), done.stdout
