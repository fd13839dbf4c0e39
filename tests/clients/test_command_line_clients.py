"""Claude Code and Gemini CLI, the real ones from npm: both start a server to tell its health."""

import json

import installed


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
