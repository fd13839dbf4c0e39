"""The MCP Python SDK, 1.x and 2.x, over stdio."""

import json
import pathlib

import installed
import pytest

CLIENT = pathlib.Path(__file__).with_name("mcp_client.py")


@pytest.mark.parametrize("environment, mode, sdk, revision", [
    ("ag2", "session", "1.", None),
    ("mcp", "session", "2.", None),
    ("mcp", "legacy", "2.", "2025-11-25"),
    ("mcp", "auto", "2.", "2026-07-28"),
    ("mcp", "2026-07-28", "2.", "2026-07-28"),
])
def test_python_client_lists_and_calls_the_tool(environment, mode, sdk, revision, tmp_path):
    done = installed.run(installed.python(environment), str(CLIENT), installed.PYEXECD, mode,
                         home=tmp_path)
    assert done.returncode == 0, done
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["sdk"].startswith(sdk)
    assert seen["server"] == (None if mode == revision else "pyexecd")
    assert seen.get("revision") == revision
    assert seen["tools"] == ["run_python"]
    assert not seen["works"]["isError"]
    assert seen["works"]["structuredContent"]["stdout"] == "42\n"
    assert seen["fails"]["isError"]
    assert "ZeroDivisionError" in seen["fails"]["content"][0]["text"]
