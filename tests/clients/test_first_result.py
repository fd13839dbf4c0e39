"""From a machine that has nothing but Debian and Python to a first result, by one command: the wheel that
`./dev wheel` makes, installed and started by a client of the MCP SDK."""

import json
import os
import shutil
import subprocess

import installed
import pytest

pytestmark = pytest.mark.heavy

PYTHON = "/usr/bin/python3"
SECONDS = 900
UV = installed.DEPS / "tools/bin/uv"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a machine")
needs_uv = pytest.mark.skipif(not UV.exists(), reason="no uv: ./dev deps installs it")


@needs_root
@needs_uv
@pytest.mark.parametrize("debian", [pytest.param("12", marks=pytest.mark.release), "13"])
def test_one_command_gets_there(wheel, debian, record_property):
    # In a process of its own: what makes machines has modules with the names of others here.
    done = subprocess.run([PYTHON, installed.ROOT / "tests/fresh/wheel.py", debian, wheel, UV, installed.python("mcp")],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [result["way"] for result in results] == ["pip", "uvx"]
    for result in results:
        record_property(f"seconds with {result['way']}", result["seconds"])


def read(script, system, *arguments):
    """What SCRIPT, which makes a machine with SYSTEM, types there is true."""
    if system == "24.04" and "UBUNTU_MIRROR" not in os.environ:
        pytest.skip("UBUNTU_MIRROR names no mirror of Ubuntu")
    done = subprocess.run([PYTHON, installed.ROOT / "tests/fresh" / script, system, *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout


on_all = pytest.mark.parametrize("system", [pytest.param("12", marks=pytest.mark.release), "13", "24.04"])


@needs_root
@needs_uv
@on_all
def test_the_readme_is_true_for_an_ordinary_user(wheel, system):
    read("readme.py", system, wheel, UV)


@pytest.fixture(scope="module")
def received(release, signing_key, tmp_path_factory):
    """The folder of a release, with the key of who has made it, as its users get both."""
    folder = shutil.copytree(release, tmp_path_factory.mktemp("received") / "release")
    subprocess.run(["openssl", "pkey", "-in", signing_key, "-pubout", "-out", folder / "public.pem"], check=True)
    return folder


@needs_root
@needs_uv
@on_all
def test_the_pages_are_true_for_an_ordinary_user(received, system):
    installed.node_program("claude")
    read("pages.py", system, received, UV, "pages")


@needs_root
@needs_uv
@pytest.mark.release
@on_all
def test_the_page_about_autogen_is_true_for_an_ordinary_user(received, system):
    read("pages.py", system, received, UV, "autogen")
