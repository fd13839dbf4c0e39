"""`pyexecd install` and the real clients from npm: each lists the server, and `uninstall` restores its settings."""

import os

import installed
import pytest

PROGRAM = os.path.abspath(installed.PYEXECD)
QUIET = {"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
         "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "GEMINI_CLI_TRUST_WORKSPACE": "true",
         "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
GEMINI_SETTINGS = """{
  // Comments are allowed here.
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false}
}
"""

# opencode adds `$schema` to settings without it.
OPENCODE_SETTINGS = """{
  "$schema": "https://opencode.ai/config.json",
  "autoupdate": false // A comment.
}
"""
URL = "http://127.0.0.1:8808/mcp"
SECONDS = 400  # opencode is 180 MB, which a busy machine reads anew each time


def run(*command, home):
    done = installed.run(*command, home=home, timeout=SECONDS, **QUIET)
    assert done.returncode == 0, done
    return done.stdout + done.stderr


def line_of_ours(said):
    lines = [line for line in said.splitlines() if "pyexecd" in line and PROGRAM in line]
    assert len(lines) == 1, said
    return lines[0]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
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


def test_opencode_connects_until_it_is_removed(tmp_path):
    """It refuses settings that do not fit its own schema, so the form of an entry with a URL is tried, too."""
    opencode = installed.node_program("opencode")
    settings = write(tmp_path / ".config" / "opencode" / "opencode.jsonc", OPENCODE_SETTINGS.encode())
    run(PROGRAM, "install", "--client", "opencode", home=tmp_path)
    said = run(opencode, "mcp", "list", home=tmp_path)
    assert "✓ pyexecd" in said and PROGRAM in said, said
    run(PROGRAM, "install", "--client", "opencode", "--http", URL, home=tmp_path)
    assert URL in run(opencode, "mcp", "list", home=tmp_path)
    run(PROGRAM, "uninstall", "--client", "opencode", home=tmp_path)
    assert settings.read_bytes() == OPENCODE_SETTINGS.encode()
