"""The MCP Python SDK, 1.x and 2.x, over stdio and HTTP, with a server whose results are structured:
the SDK checks them against the schema."""

import json
import pathlib

import http_server
import installed
import jsonschema
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
    for call in "works", "fails", "floods":
        jsonschema.validate(seen[call]["structuredContent"], seen["tools"]["run_python"])
    assert not seen["works"]["isError"]
    assert seen["works"]["structuredContent"]["stdout"] == "42\n"
    assert seen["fails"]["isError"]
    assert "ZeroDivisionError" in seen["fails"]["content"][0]["text"]
    assert seen["floods"]["structuredContent"]["stdout"].count("spam") == 20000


@CLIENTS
def test_python_client_over_stdio(environment, mode, sdk, revision, tmp_path):
    lists_and_calls_the_tool(installed.PYEXECD, environment, mode, sdk, revision, tmp_path)


@CLIENTS
def test_python_client_over_http(environment, mode, sdk, revision, tmp_path):
    with http_server.served(tmp_path, results="structured") as url:
        lists_and_calls_the_tool(url, environment, mode, sdk, revision, tmp_path)


def test_run_prints_all_of_the_structured_form(tmp_path):
    """Beside the schema of the tool, which `pyexecd schema` prints as a client would get it."""
    tool = installed.run(installed.PYEXECD, "schema", "--results", "structured", home=tmp_path)
    script = tmp_path / "script.py"
    script.write_text("print('spam\\n' * 20000)\nraise SystemExit(3)\n")
    done = installed.run(installed.PYEXECD, "run", "--json", str(script), home=tmp_path)
    result = json.loads(done.stdout)
    jsonschema.validate(result, json.loads(tool.stdout)["outputSchema"])
    assert (result["returncode"], result["stdout"].count("spam")) == (3, 20000)
