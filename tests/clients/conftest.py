"""What `./dev` makes for other machines, built once for all tests of a run."""

import subprocess

import installed
import pytest


@pytest.fixture(scope="session")
def signing_key(tmp_path_factory):
    path = tmp_path_factory.mktemp("key") / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True)
    return path


@pytest.fixture(scope="session")
def release(tmp_path_factory, signing_key):
    """The folder with all that is released."""
    installed.python("wheel")
    return installed.made_by("release", tmp_path_factory.mktemp("release"), "--key", signing_key)


@pytest.fixture(scope="session")
def wheel(release):
    """The wheel of the release, beside the sdist that it was made from."""
    (path,) = release.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def deb(tmp_path_factory):
    """The Debian package. `./dev deb` fails when lintian finds something."""
    (path,) = installed.made_by("deb", tmp_path_factory.mktemp("deb")).glob("*.deb")
    return path
