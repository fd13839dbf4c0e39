"""`pyexecd install` and `uninstall`: the settings of clients, as they were and with pyexecd in them."""

import json
import os
import stat
import subprocess

import pytest

from client import Server

PROGRAM = os.path.abspath(os.environ["PYEXECD"])
MORE_THAN_MAX_TIMEOUT = 630
URL = "http://127.0.0.1:8808/mcp"
JSON_FORMS = ["{}", "{}\n", "", "{\n}\n", '{"a": 1}', '{\n  "a": {\n    "b": [1, "}"]\n  }\n}\n',
              '{\n\t"a": 1\n}\n', '{\r\n    "a": "\u00e9"\r\n}\r\n']

# Client, file below HOME, what the servers are listed in, entry for stdio, entry for HTTP. The real Claude Code, Codex,
# Gemini CLI and opencode are tried in tests/clients/test_installed_clients.py. The forms of the others were compared with
#   VS Code         mcpServerSchema in src/vs/workbench/contrib/mcp/common/mcpConfiguration.ts of github.com/microsoft/vscode
#   Zed             ContextServerSettingsContent in crates/settings_content/src/project.rs of
#                   github.com/zed-industries/zed: `timeout` is in seconds
#   Goose           ExtensionConfig in crates/goose/src/agents/extension.rs of github.com/aaif-goose/goose
#   Windsurf        its own documents: https://docs.windsurf.com/windsurf/cascade/mcp
#   Cursor          pages that quote its own document, https://cursor.com/docs/mcp, of which a part could be read
#   Claude Desktop  docs/docs/develop/connect-local-servers.mdx of github.com/modelcontextprotocol/modelcontextprotocol,
#                   which has the paths of macOS and Windows alone, and README.md of github.com/geelen/mcp-remote
CLIENTS = {
    "claude-code": (".claude.json", "mcpServers",
                    {"type": "stdio", "command": PROGRAM, "args": []}, {"type": "http", "url": URL}),
    "claude-desktop": (".config/Claude/claude_desktop_config.json", "mcpServers",
                       {"command": PROGRAM, "args": []}, {"command": "npx", "args": ["-y", "mcp-remote", URL]}),
    "cursor": (".cursor/mcp.json", "mcpServers", {"command": PROGRAM, "args": []}, {"url": URL}),
    "vscode": (".config/Code/User/mcp.json", "servers",
               {"type": "stdio", "command": PROGRAM, "args": []}, {"type": "http", "url": URL}),
    "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers",
                 {"command": PROGRAM, "args": []}, {"serverUrl": URL}),
    "gemini": (".gemini/settings.json", "mcpServers",
               {"command": PROGRAM, "args": [], "timeout": MORE_THAN_MAX_TIMEOUT * 1000},
               {"url": URL, "type": "http", "timeout": MORE_THAN_MAX_TIMEOUT * 1000}),
    "zed": (".config/zed/settings.json", "context_servers",
            {"command": PROGRAM, "args": [], "timeout": MORE_THAN_MAX_TIMEOUT},
            {"url": URL, "timeout": MORE_THAN_MAX_TIMEOUT}),
    "opencode": (".config/opencode/opencode.json", "mcp",
                 {"type": "local", "command": [PROGRAM], "enabled": True, "timeout": MORE_THAN_MAX_TIMEOUT * 1000},
                 {"type": "remote", "url": URL, "enabled": True, "timeout": MORE_THAN_MAX_TIMEOUT * 1000}),
}
OTHERS = {
    "codex": (".codex/config.toml", ["", "model = \"x\"", "model = \"x\"\n\n[mcp_servers.other]\ncommand = \"a\" # mine\n",
                                     "notes = '''\n[mcp_servers.pyexecd]\n'''\r\n"]),
    "goose": (".config/goose/config.yaml", ["", "GOOSE_MODEL: x", "# mine\nextensions:\n  # first\n  other:\n    "
                                            "enabled: true\nlast: 1\n", "extensions: {}\n", "extensions:\nlast: 1\n"]),
}
EVERY_FILE = {**{name: (row[0], JSON_FORMS + [json.dumps({row[1]: {"other": {"command": "x"}}}, indent=2),
                                             '{"%s": {}}' % row[1],
                                             '{\n  // mine\n  "%s": {\n    "x": {}, // last\n  },\n}\n' % row[1]])
                 for name, row in CLIENTS.items()}, **OTHERS}
# Of JSON's forms those that do not name the client's own key are read with one client, before a release with all.
CASES = [pytest.param(name, form, marks=[pytest.mark.release] * (name in CLIENTS and name != "cursor" and form < len(JSON_FORMS)))
         for name, (_, forms) in EVERY_FILE.items() for form in range(len(forms))]


class Home:
    def __init__(self, folder):
        self.folder = folder

    def run(self, *arguments, program=PROGRAM, **variables):
        environment = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **variables}
        return subprocess.run([program, *arguments], env=environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)

    def install(self, client, *arguments, **more):
        return self.run("install", "--client", client, *arguments, **more)

    def uninstall(self, client, *arguments):
        return self.run("uninstall", "--client", client, *arguments)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def files(self):
        """All but what the server keeps for itself, which the entry starts once."""
        return {path.relative_to(self.folder): path.read_bytes() for path in self.folder.rglob("*")
                if path.is_file() and "state" not in path.parts}


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return Home(tmp_path / "home")


def done(result):
    assert result.returncode == 0 and result.stderr == "", result
    return result.stdout


def read_json(home, client):
    name, listed_in, _, _ = CLIENTS[client]
    return json.loads((home.folder / name).read_text())[listed_in]["pyexecd"]


# What is written


@pytest.mark.parametrize("client", CLIENTS)
def test_the_entry_is_what_the_client_reads(client, home):
    _, _, stdio, http = CLIENTS[client]
    done(home.install(client))
    assert read_json(home, client) == stdio
    done(home.install(client, "--http", URL))
    assert read_json(home, client) == http


def test_codex_waits_longer_than_a_call_may_take(home):
    done(home.install("codex"))
    assert (home.folder / ".codex/config.toml").read_text() == (
        f'[mcp_servers.pyexecd]\ncommand = "{PROGRAM}"\nargs = []\ntool_timeout_sec = {MORE_THAN_MAX_TIMEOUT}\n')
    done(home.install("codex", "--http", URL))
    assert (home.folder / ".codex/config.toml").read_text() == (
        f'[mcp_servers.pyexecd]\nurl = "{URL}"\ntool_timeout_sec = {MORE_THAN_MAX_TIMEOUT}\n')


def test_goose_gets_an_extension(home):
    done(home.install("goose"))
    assert (home.folder / ".config/goose/config.yaml").read_text() == (
        "extensions:\n  pyexecd:\n    enabled: true\n    type: \"stdio\"\n    name: \"pyexecd\"\n"
        f"    cmd: \"{PROGRAM}\"\n    args: []\n    envs: {{}}\n    timeout: {MORE_THAN_MAX_TIMEOUT}\n")
    done(home.install("goose", "--http", URL))
    assert f'    uri: "{URL}"\n' in (home.folder / ".config/goose/config.yaml").read_text()


def test_the_configuration_that_is_named_is_the_one_that_the_client_starts_with(home):
    config = home.write("my.yaml", "max_timeout: 1000\nlisten: [\"tcp:127.0.0.1:0\"]\nauth: none\n")
    config.chmod(0o600)
    done(home.install("gemini", "--config", "my.yaml"))
    assert read_json(home, "gemini") == {"command": PROGRAM, "timeout": 1030000,
                                         "args": ["--config", str(config), "--listen", "stdio"]}


def test_claude_code_calls_without_asking_only_on_request(home):
    done(home.install("claude-code"))
    assert not (home.folder / ".claude").exists()
    settings = home.write(".claude/settings.json", '{"permissions": {"allow": ["Bash(ls)"]}}\n')
    done(home.install("claude-code", "--allow"))
    assert json.loads(settings.read_text()) == {"permissions": {"allow": ["Bash(ls)", "mcp__pyexecd"]}}
    done(home.uninstall("claude-code"))
    assert settings.read_text() == '{"permissions": {"allow": ["Bash(ls)"]}}\n'
    assert home.install("cursor", "--allow").returncode == 64


def test_scripts_of_the_client_can_read_the_project(home, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    done(home.install("cursor", "--project", "../project"))
    assert read_json(home, "cursor")["args"] == ["--project", str(project)]


def test_a_server_shows_scripts_the_project_that_it_is_given(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "data.txt").write_text("data\n")
    with Server("--project", str(project)) as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": f"print(open({str(project / 'data.txt')!r}).read())"})
    assert result["structuredContent"]["stdout"] == "data\n\n"


@pytest.mark.parametrize("folder", ["/", "/nowhere/at/all"])
def test_a_folder_that_scripts_cannot_be_given_is_refused(folder, home):
    for result in (home.install("cursor", "--project", folder), home.run("--project", folder)):
        assert result.returncode == 64 and "--project" in result.stderr
    assert home.files() == {}


def test_a_server_that_others_call_shows_them_no_project(home):
    result = home.run("--project", ".", "--listen", f"unix:{home.folder}/socket")
    assert result.returncode == 64 and "stdio alone" in result.stderr


def test_a_server_with_a_url_takes_no_project(home):
    assert home.install("cursor", "--http", URL, "--project", ".").returncode == 64
    assert home.install("cursor", "--http", "127.0.0.1:8808").returncode == 64


def test_the_path_is_the_link_by_which_the_program_was_called(home):
    link = home.folder / "bin/pyexecd"
    link.parent.mkdir()
    link.symlink_to(PROGRAM)
    done(home.install("cursor", program="bin/pyexecd"))
    assert read_json(home, "cursor")["command"] == str(link)
    result = subprocess.run(["pyexecd", "install", "--client", "cursor"], executable=PROGRAM,
                            env={"HOME": str(home.folder), "PATH": str(link.parent)}, cwd=home.folder,
                            capture_output=True, text=True, timeout=60, check=False)
    assert done(result).startswith("nothing to change in")
    assert read_json(home, "cursor")["command"] == str(link)


def test_a_program_that_is_not_what_it_is_called_by_is_written_by_its_own_path(home):
    result = subprocess.run(["sh", "install", "--client", "cursor"], executable=PROGRAM,
                            env={"HOME": str(home.folder), "PATH": os.environ["PATH"]}, cwd=home.folder,
                            capture_output=True, text=True, timeout=60, check=False)
    done(result)
    assert read_json(home, "cursor")["command"] == os.path.realpath(PROGRAM)


# What stays as it was


@pytest.mark.once
@pytest.mark.parametrize("client, form", CASES)
def test_uninstall_restores_every_byte(client, form, home):
    name, forms = EVERY_FILE[client]
    path = home.write(name, forms[form])
    done(home.install(client))
    assert path.read_bytes() != forms[form].encode()
    once = path.read_bytes()
    assert done(home.install(client)).startswith("nothing to change in")
    done(home.install(client, "--http", URL))
    done(home.install(client))
    done(home.uninstall(client))
    assert path.read_bytes() == forms[form].encode(), once
    assert done(home.uninstall(client)).startswith("nothing to remove in")


@pytest.mark.parametrize("client", EVERY_FILE)
def test_a_file_that_was_made_is_removed_again(client, home):
    name, _ = EVERY_FILE[client]
    done(home.install(client))
    assert stat.S_IMODE((home.folder / name).stat().st_mode) == 0o600
    assert done(home.uninstall(client)).startswith("removed ")
    assert not (home.folder / name).exists()


def test_what_was_there_is_kept_in_a_backup_of_the_same_mode(home):
    path = home.write(".cursor/mcp.json", '{"a": 1}')
    path.chmod(0o640)
    done(home.install("cursor"))
    backup = home.folder / ".cursor/mcp.json.pyexecd-backup"
    assert backup.read_text() == '{"a": 1}'
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(backup.stat().st_mode) == 0o640
    assert len(home.files()) == 2


def test_a_link_stays_one_and_what_it_leads_to_is_written(home):
    target = home.write("dotfiles/mcp.json", "{}\n")
    link = home.folder / ".cursor/mcp.json"
    link.parent.mkdir()
    link.symlink_to("../dotfiles/mcp.json")
    done(home.install("cursor"))
    assert link.is_symlink() and "pyexecd" in target.read_text()
    target.unlink()
    assert "leads nowhere" in home.install("cursor").stderr


def test_a_dry_run_writes_nothing(home):
    home.write(".gemini/settings.json", '{"a": 1}\n')
    before = home.files()
    said = done(home.install("gemini", "--dry-run"))
    assert said.startswith("would write ") and PROGRAM in said
    assert home.files() == before


@pytest.mark.parametrize("client, text, place", [
    ("cursor", '{\n  "a": 1,\n  "b" 2\n}\n', "3:7: is not valid JSON"),
    ("cursor", "[]", "1:1: must be an object"),
    ("cursor", '{"mcpServers": []}', "1:16: mcpServers must be an object"),
    ("codex", 'a = 1\nb = "x\n', "2:5: is not valid TOML"),
    ("codex", "mcp_servers = {}\n", "1:1: mcp_servers must have tables"),
    ("codex", "[mcp_servers]\npyexecd = {}\n", "2:1: pyexecd must be a table"),
    ("goose", "a: 1\n\tb: 2\n", "2:1: "),
    ("goose", "extensions: [a]\n", "1:1: extensions must be a mapping"),
    ("goose", "extensions: {a: {b: 1}}\n", "1:1: extensions is not written as a block"),
])
def test_settings_that_cannot_be_read_are_left_alone(client, text, place, home):
    path = home.write(EVERY_FILE[client][0], text)
    result = home.install(client)
    assert result.returncode == 78 and f"{path}:{place}" in result.stderr, result.stderr
    assert list(home.files().values()) == [text.encode()]


def test_a_file_that_is_none_is_refused(home):
    (home.folder / ".cursor").mkdir()
    os.mkfifo(home.folder / ".cursor/mcp.json")
    assert "not a regular file" in home.install("cursor").stderr
    home.write(".gemini/settings.json", "{}\0")
    assert "not text" in home.install("gemini").stderr


# What it says


def test_without_a_name_it_lists_what_it_finds(home):
    home.write(".codex/config.toml", "")
    done(home.install("zed"))
    lines = done(home.run("install")).splitlines()
    assert [line.split()[:2] for line in lines if "zed" in line or "codex" in line] == [["no", "codex"], ["yes", "zed"]]
    assert any("cursor" in line and "not found" in line for line in lines)
    assert lines[-1] == "To add pyexecd: pyexecd install CLIENT"
    assert done(home.run("uninstall")).splitlines()[-1] == "To take pyexecd out: pyexecd uninstall CLIENT"


def test_it_says_what_to_do_next(home):
    said = done(home.install("codex"))
    assert "codex mcp list" in said and "AGENTS.md" in said and "print(6 * 7)" in said


def test_what_the_entry_starts_is_tried(home):
    assert "what the entry starts answers" in done(home.install("zed"))
    home.write("bad.yaml", "token_file: /nowhere/tokens\n").chmod(0o600)
    broken = home.install("zed", "--config", "bad.yaml")
    assert broken.returncode == 69 and "the entry starts no MCP server that answers" in broken.stderr
    assert "answers" not in done(home.install("zed", "--http", URL))


def test_an_entry_is_checked_without_a_change(home):
    absent = home.run("install", "--check", "codex")
    assert (absent.returncode, home.files()) == (78, {}) and "pyexecd install codex" in absent.stderr
    done(home.run("install", "codex"))
    before = home.files()
    assert "config.toml has the entry" in done(home.run("install", "--check", "codex"))
    assert home.run("install", "--check", "codex", "--http", URL).returncode == 78
    assert home.files() == before


def test_a_client_may_be_named_without_an_option(home):
    done(home.run("install", "cursor"))
    assert read_json(home, "cursor")["command"] == PROGRAM
    done(home.run("uninstall", "cursor"))
    assert not (home.folder / ".cursor/mcp.json").exists()


@pytest.mark.parametrize("name, meant", [
    ("claude", "claude-code"), ("VS Code", "vscode"), ("gemini-cli", "gemini"), ("Cursor", "cursor")])
def test_a_client_by_another_name_is_recognised(name, meant, home):
    result = home.run("install", name)
    assert result.returncode == 64 and f"did you mean {meant}?" in result.stderr


def test_gemini_says_that_folders_have_to_be_trusted(home):
    assert "trust" in done(home.install("gemini"))


def test_a_client_that_is_not_known_is_refused(home):
    result = home.install("curser")
    assert result.returncode == 64 and "did you mean cursor?" in result.stderr
    nobody = home.install("nobody")
    assert nobody.returncode == 64 and "there are: claude-code, claude-desktop, cursor, " in nobody.stderr


def test_other_folders_for_settings_are_respected(home):
    done(home.install("codex", CODEX_HOME=str(home.folder / "elsewhere")))
    done(home.install("zed", XDG_CONFIG_HOME=str(home.folder / "xdg")))
    done(home.install("claude-code", CLAUDE_CONFIG_DIR=str(home.folder / "claude")))
    assert set(map(str, home.files())) == {"elsewhere/config.toml", "xdg/zed/settings.json", "claude/.claude.json"}
