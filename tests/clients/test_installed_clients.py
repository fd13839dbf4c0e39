"""`pyexecd install` and the real clients from npm: each lists the server, and `uninstall` restores its settings."""

import os

import installed
import pytest

PROGRAM = os.path.abspath(installed.PYEXECD)
QUIET = {"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
         "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
GEMINI_SETTINGS = """{
  // Comments are allowed here.
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false}
}
"""


def run(*command, home):
    done = installed.run(*command, home=home, **QUIET)
    assert done.returncode == 0, done
    return done.stdout + done.stderr


def line_of_ours(said):
    lines = [line for line in said.splitlines() if "pyexecd" in line and PROGRAM in line]
    assert len(lines) == 1, said
    return lines[0]


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text)
    return path


@pytest.mark.parametrize("client, name, text", [
    ("codex", ".codex/config.toml", b"model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"true\"\n"),
    ("gemini", ".gemini/settings.json", GEMINI_SETTINGS.encode()),
])
def test_the_client_lists_the_server_until_it_is_removed(client, name, text, tmp_path):
    program = installed.node_program(client)
    settings = write(tmp_path / name, text)
    run(PROGRAM, "install", "--client", client, home=tmp_path)
    line = line_of_ours(run(program, "mcp", "list", home=tmp_path))
    if client == "gemini":
        assert line.endswith("Connected"), line
    run(PROGRAM, "uninstall", "--client", client, home=tmp_path)
    assert settings.read_bytes() == text
    assert PROGRAM not in run(program, "mcp", "list", home=tmp_path)


def test_claude_code_connects_until_it_is_removed(tmp_path):
    claude = installed.node_program("claude")
    run(claude, "mcp", "add", "-s", "user", "other", "--", "true", home=tmp_path)
    settings = tmp_path / ".claude.json"
    before = settings.read_bytes()
    run(PROGRAM, "install", "--client", "claude-code", home=tmp_path)
    with_ours = settings.read_bytes()
    assert line_of_ours(run(claude, "mcp", "list", home=tmp_path)).endswith("Connected")
    # Claude Code writes this file, too: what it has learned meanwhile is kept.
    is_untouched = settings.read_bytes() == with_ours
    run(PROGRAM, "uninstall", "--client", "claude-code", home=tmp_path)
    if is_untouched:
        assert settings.read_bytes() == before
    assert b"pyexecd" not in settings.read_bytes() and b'"other"' in settings.read_bytes()
    assert PROGRAM not in run(claude, "mcp", "list", home=tmp_path)
