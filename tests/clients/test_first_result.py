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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a machine")
@pytest.mark.parametrize("debian", [pytest.param("12", marks=pytest.mark.release), "13"])
def test_one_command_gets_there(wheel, debian, record_property):
    uv = installed.DEPS / "tools/bin/uv"
    if not uv.exists():
        pytest.skip("no uv: ./dev deps installs it")
    # In a process of its own: what makes machines has modules with the names of others here.
    done = subprocess.run([PYTHON, installed.ROOT / "tests/fresh/wheel.py", debian, wheel, uv, installed.python("mcp")],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [result["way"] for result in results] == ["pip", "uvx"]
    for result in results:
        record_property(f"seconds with {result['way']}", result["seconds"])
