"""The MCP Python SDK, 1.x and 2.x, over stdio and HTTP, with a server whose results are structured:
the SDK checks them against the schema."""

import json
import pathlib

import http_server
import installed
import pytest

CLIENT = pathlib.Path(__file__).with_name("mcp_client.py")


CLIENTS = pytest.mark.parametrize("environment, mode, sdk, revision", [
    ("ag2", "session", "1.", None),
    ("mcp", "session", "2.", None),
    ("mcp", "legacy", "2.", "2025-11-25"),
    ("mcp", "auto", "2.", "2026-07-28"),
    ("mcp", "2026-07-28", "2.", "2026-07-28"),
])


def lists_and_calls_the_tool(server, environment, mode, sdk, revision, home):
    done = installed.run(installed.python(environment), str(CLIENT), server, mode, home=home)
    assert done.returncode == 0, done
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["sdk"].startswith(sdk)
    assert seen["server"] == (None if mode == revision else "pyexecd")
    assert seen.get("revision") == revision
    assert "run_python" in seen["tools"]
    assert not seen["works"]["isError"]
    assert seen["works"]["structuredContent"]["stdout"] == "42\n"
    assert seen["fails"]["isError"]
    assert "ZeroDivisionError" in seen["fails"]["content"][0]["text"]


@CLIENTS
def test_python_client_over_stdio(environment, mode, sdk, revision, tmp_path):
    lists_and_calls_the_tool(installed.PYEXECD, environment, mode, sdk, revision, tmp_path)


@CLIENTS
def test_python_client_over_http(environment, mode, sdk, revision, tmp_path):
    with http_server.served(tmp_path, results="structured") as url:
        lists_and_calls_the_tool(url, environment, mode, sdk, revision, tmp_path)
