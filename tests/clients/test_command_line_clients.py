"""Claude Code, Gemini CLI and the MCP Inspector, the real ones from npm. How the first two connect
over HTTP is in test_readme.py."""

import json

import http_server
import installed
import pytest

def test_claude_code_reports_the_server_as_connected(tmp_path):
    claude = installed.node_program("claude")
    quiet = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    added = installed.run(claude, "mcp", "add", "-s", "user", "python", "--", installed.PYEXECD,
                          home=tmp_path, **quiet)
    assert added.returncode == 0, added
    listed = installed.run(claude, "mcp", "list", home=tmp_path, **quiet)
    assert listed.returncode == 0, listed
    line = next(line for line in listed.stdout.splitlines() if line.startswith("python:"))
    assert line.endswith("Connected"), listed


def test_gemini_reports_the_server_as_connected(tmp_path):
    gemini = installed.node_program("gemini")
    settings = tmp_path / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({
        "mcpServers": {"python": {"command": installed.PYEXECD}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }))
    listed = installed.run(gemini, "mcp", "list", home=tmp_path,
                           GEMINI_CLI_TRUST_WORKSPACE="true")
    assert listed.returncode == 0, listed
    line = next(line for line in (listed.stdout + listed.stderr).splitlines() if "python:" in line)
    assert line.endswith("Connected"), listed


def inspect(home, url, era, *request):
    """What the Inspector prints for REQUEST."""
    done = installed.run(installed.node_program("mcp-inspector"), "--cli", url, "--transport", "http",
                         "--protocol-era", era, *request, home=home)
    assert done.returncode == 0, done
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
def test_the_inspector_lists_and_calls_the_tool(era, tmp_path):
    with http_server.served(tmp_path) as url:
        listed, notes = inspect(tmp_path, url, era, "--method", "tools/list", "--strict")
        called, _ = inspect(tmp_path, url, era, "--method", "tools/call", "--tool-name",
                            "run_python", "--tool-arg", "code=print(6 * 7)")
    assert "run_python" in [tool["name"] for tool in listed["tools"]]
    assert not notes or "0 errors" in notes, notes
    assert called["content"][0]["text"] == "exitcode: 0 (execution succeeded)\nCode output: 42\n"
