"""From a machine that has nothing but Debian and Python to a first result, by one command: the wheel that
`./dev wheel` makes, installed and started by a client of the MCP SDK."""

import json
import os
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


@needs_root
@needs_uv
@pytest.mark.parametrize("system", [pytest.param("12", marks=pytest.mark.release), "13", "24.04"])
def test_the_readme_is_true_for_an_ordinary_user(wheel, system):
    if system == "24.04" and "UBUNTU_MIRROR" not in os.environ:
        pytest.skip("UBUNTU_MIRROR names no mirror of Ubuntu")
    done = subprocess.run([PYTHON, installed.ROOT / "tests/fresh/readme.py", system, wheel, UV], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout
