"""What `./dev` makes for other machines, built once for all tests of a run."""

import subprocess

import installed
import pytest

BUILD_SECONDS = 900  # for all of it, while other tests run


def made_by(command, folder):
    """The folder FOLDER with what `./dev COMMAND` puts into it."""
    done = subprocess.run([installed.ROOT / "dev", command, folder], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=BUILD_SECONDS)
    assert done.returncode == 0, done.stdout
    return folder


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel, beside the sdist that it was made from."""
    installed.python("wheel")
    (path,) = made_by("wheel", tmp_path_factory.mktemp("wheel")).glob("*.whl")
    return path


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    """The folder with all that is released."""
    installed.python("wheel")
    return made_by("release", tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="session")
def deb(tmp_path_factory):
    """The Debian package. `./dev deb` fails when lintian finds something."""
    (path,) = made_by("deb", tmp_path_factory.mktemp("deb")).glob("*.deb")
    return path
