"""The plugin of `./dev release`, installed by Claude Code and, as an extension, by Gemini CLI."""

import tarfile

import installed
import pytest

pytestmark = pytest.mark.heavy

QUIET = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
SECONDS = 400  # Each client is large, and a busy machine reads it anew each time.


@pytest.fixture(scope="module")
def plugin(release, tmp_path_factory):
    """The folder that the plugin is unpacked in."""
    folder = tmp_path_factory.mktemp("plugin")
    (path,) = release.glob("linux.*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(folder)
    return folder


def run(client, *arguments, home):
    done = installed.run(installed.node_program(client), *arguments, home=home, timeout=SECONDS, **QUIET)
    assert done.returncode == 0, done
    return done.stdout + done.stderr


def test_claude_code_connects_until_it_is_removed(plugin, tmp_path):
    run("claude", "plugin", "validate", "--strict", plugin, home=tmp_path)
    run("claude", "plugin", "marketplace", "add", plugin, home=tmp_path)
    run("claude", "plugin", "install", "pyexecd@pyexecd", home=tmp_path)
    assert "run-python" in run("claude", "plugin", "details", "pyexecd@pyexecd", home=tmp_path)
    (line,) = [line for line in run("claude", "mcp", "list", home=tmp_path).splitlines() if "server/pyexecd" in line]
    assert line.endswith("Connected"), line
    run("claude", "plugin", "uninstall", "pyexecd@pyexecd", home=tmp_path)
    assert "server/pyexecd" not in run("claude", "mcp", "list", home=tmp_path)


def test_gemini_cli_connects_until_it_is_removed(plugin, tmp_path):
    run("gemini", "extensions", "validate", plugin, home=tmp_path)
    run("gemini", "extensions", "install", "--consent", plugin, home=tmp_path)
    assert "run-python" in run("gemini", "skills", "list", home=tmp_path)
    (line,) = [line for line in run("gemini", "mcp", "list", home=tmp_path).splitlines() if "server/pyexecd" in line]
    assert line.endswith("Connected"), line
    run("gemini", "extensions", "uninstall", "pyexecd", home=tmp_path)
    assert "server/pyexecd" not in run("gemini", "mcp", "list", home=tmp_path)
