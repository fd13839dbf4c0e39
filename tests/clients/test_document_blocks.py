"""Every fenced block of the documents is run here, or document_blocks.NOT_RUN says why not."""

import json
import os
import re
import subprocess
import sys

import jsonschema
import pytest

import document_blocks
import http_server
import installed
import ports
import python_package

sys.path.insert(0, str(installed.ROOT / "examples"))

from approving_client import ApprovingClient  # noqa: E402
from client import Client, ToolError  # noqa: E402

BLOCKS = document_blocks.blocks()
PORT = "8808"
# Places of the operator that configurations name.
OPERATORS = ["/srv/data", "/srv/results", "/srv/shared", "/srv/pyexecd/work", "/etc/pyexecd", "/run/pyexecd",
             "/opt/science/bin"]
HANDLE = re.compile('"[0-9a-f]{32}"')
NAMED = re.compile(r'"[0-9a-f]{32}"|/\S+/[0-9a-f]{32}(?=,)')  # a handle, or the directory that it stands for


def chosen(language, words=""):
    """The blocks in LANGUAGE that are run here and match WORDS, an expression."""
    return [pytest.param(block, id=repr(block)) for block in BLOCKS
            if block.language == language and not block.reason() and re.search(words, block.text)]


def one(document, words):
    (block,) = [block for block in BLOCKS if block.document == document and words in block.text]
    return block.text


def document_text(name):
    return (installed.ROOT / name).read_text()


@pytest.fixture
def on_path(tmp_path):
    """A PATH with the program, and with the clients from npm."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "pyexecd").symlink_to(os.path.abspath(installed.PYEXECD))
    return f"{folder}:{installed.DEPS}/clients/node_modules/.bin:{installed.DEPS}/node/bin:{os.environ['PATH']}"


def typed(text, home, path, **more):
    done = installed.run("/bin/sh", "-ec", text, home=home, PATH=path, **more)
    assert done.returncode == 0, done
    return done.stdout


def written(folder, name, text):
    path = folder / name
    path.write_text(text)
    path.chmod(0o600)
    return path


def check(config):
    return subprocess.run([installed.PYEXECD, "--config", config.name, "--check-config"], cwd=config.parent,
                          env={**os.environ, "GITHUB_TOKEN": "ghp_0123456789"}, capture_output=True, text=True, timeout=120)


# Which tests below have blocks of which language; words that tell those apart that are of no language.
HANDLED = {"yaml": "", "json": "", "sh": "pyexecd install|mcp add|inspector|pyexecd call|umask",
           "text": "exitcode|Answer yes", "console": "healthz", "": "sha256:DIGEST|is not among"}


def test_each_block_is_run_or_has_its_reason():
    for block in BLOCKS:
        is_handled = block.language in HANDLED and re.search(HANDLED[block.language], block.text)
        assert block.reason() or is_handled, f"nothing runs this block: {block}"


@pytest.mark.parametrize("document, words, _", document_blocks.NOT_RUN)
def test_each_reason_is_of_a_block(document, words, _):
    assert any(block.document == document and words in block.text for block in BLOCKS)


@pytest.mark.parametrize("block", chosen("yaml"))
def test_a_configuration_has_no_errors(block, tmp_path):
    """What it names of the operator's is made for it, below another directory."""
    text = block.text
    for place in OPERATORS:
        (tmp_path / place[1:]).mkdir(parents=True)
        text = text.replace(place, f"{tmp_path}{place}")
    (tmp_path / "opt/science/bin/python3").symlink_to("/usr/bin/python3")
    (tmp_path / "results").mkdir()
    written(tmp_path, "market.py", "def price(name):\n    \"\"\"The price of NAME.\"\"\"\n    return 1\n")
    for name in "token", "tokens":
        written(tmp_path / "etc/pyexecd", name, "0123456789abcdef0123456789abcdef\n")
    if "tls:" in text:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout",
                        tmp_path / "etc/pyexecd/key.pem", "-out", tmp_path / "etc/pyexecd/certificate.pem"],
                       check=True, capture_output=True)
    checked = check(written(tmp_path, "config.yaml", text))
    assert (checked.returncode, checked.stderr) == (0, ""), checked


def test_the_lines_of_a_token_file_are_read(tmp_path):
    written(tmp_path, "tokens", one("docs/configuration.md", "sha256:DIGEST"))
    config = written(tmp_path, "config.yaml", "listen: ['tcp:127.0.0.1:0']\ntoken_file: tokens\n"
                     "environments: {science: {type: system}}\n".replace("tokens", f"{tmp_path}/tokens"))
    checked = check(config)
    assert checked.returncode == 0, checked


def test_the_command_for_one_token_makes_one(tmp_path, on_path):
    typed(one("docs/configuration.md", "umask 077").replace("/etc/pyexecd", str(tmp_path)), tmp_path, on_path)
    config = written(tmp_path, "config.yaml", f"listen: ['tcp:127.0.0.1:0']\ntoken_file: {tmp_path}/token\n")
    assert check(config).returncode == 0


def servers_of(settings):
    for listed in settings.get("mcpServers", {}), settings.get("servers", {}):
        yield from listed.values()


@pytest.mark.parametrize("block", chosen("json", "[sS]ervers\""))
def test_settings_of_clients_lead_to_a_server(block, tmp_path):
    (server,) = servers_of(json.loads(block.text))
    if "command" in server:
        assert server["command"] == "pyexecd"
        with Client(installed.PYEXECD, *server["args"]) as client:
            assert client.run_python("print(42)")["stdout"] == "42\n"
        return
    port = ports.free_port()
    url = server.get("url", server.get("serverUrl")).replace(PORT, str(port))
    python_package.program(tmp_path, "")  # puts the package on the path
    import pyexecd
    with http_server.served(tmp_path, port), pyexecd.Client(url=url) as client:
        assert client.run_python("print(42)").stdout == "42\n"


def test_a_structured_result_is_of_its_schema():
    result = json.loads(one("docs/protocol.md", '"success": true'))
    schema = json.loads((installed.ROOT / "schemas/run_python.output.json").read_text())
    jsonschema.validate(result, schema)


@pytest.mark.parametrize("block", chosen("json", '^{"code"'))
def test_arguments_are_of_the_tool(block, tmp_path):
    config = written(tmp_path, "config.yaml", "sessions: {}\n")
    with Client(installed.PYEXECD, "--config", str(config)) as client:
        (tool,) = [tool for tool in client.list_tools() if tool["name"] == "run_python"]
    decoder, rest = json.JSONDecoder(), block.text.strip()
    while rest:
        arguments, end = decoder.raw_decode(rest)
        jsonschema.validate(arguments, tool["inputSchema"])
        assert set(arguments) <= set(tool["inputSchema"]["properties"])
        rest = rest[end:].strip()


def test_a_call_is_logged_with_these_members(tmp_path):
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    call = {"name": "run_python", "arguments": {"code": "1 / 0"}, "_meta": {"traceparent": trace}}
    start = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = [{"id": 1, "method": "initialize", "params": start}, {"method": "notifications/initialized"},
                {"id": 2, "method": "tools/call", "params": call}]
    server = subprocess.Popen([installed.PYEXECD, "--log-level", "info"], cwd=tmp_path, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    server.stdin.write("".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in messages))
    server.stdin.flush()
    assert any('"id":2' in line.replace(" ", "") for line in server.stdout)
    _, log = server.communicate(timeout=120)
    (logged,) = [json.loads(line) for line in log.splitlines() if '"event":"call"' in line]
    assert list(logged) == list(json.loads(one("docs/operation.md", '"event":"call"')))


def test_the_health_of_a_server_is_asked_as_shown(tmp_path, on_path):
    command, answer = one("docs/operation.md", "healthz").strip().split("\n")
    port = ports.free_port()
    with http_server.served(tmp_path, admin=f"http://127.0.0.1:{port}"):
        said = typed(command[2:].replace("9090", str(port)).replace("curl", "curl -s"), tmp_path, on_path)
    assert list(json.loads(said)) == list(json.loads(answer))


@pytest.mark.parametrize("block", chosen("sh", "pyexecd install"))
def test_clients_are_installed_as_shown(block, tmp_path, on_path):
    typed(block.text, tmp_path, on_path)


@pytest.mark.parametrize("line", [
    line for each in chosen("sh", "mcp add") for line in each.values[0].text.splitlines()])
def test_clients_are_told_of_the_server_as_shown(line, tmp_path, on_path):
    installed.node_program(line.split()[0])
    typed(line, tmp_path, on_path, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_AUTOUPDATER="1")
    name = {"claude": ".claude.json", "codex": ".codex/config.toml", "gemini": ".gemini/settings.json"}[line.split()[0]]
    text = (tmp_path / name).read_text()
    assert ("http://127.0.0.1:8808/mcp" if "http://" in line else '"pyexecd"') in text


def test_the_inspector_lists_the_tools(tmp_path, on_path):
    installed.node_program("claude")
    (tmp_path / "node_modules").symlink_to(installed.DEPS / "clients" / "node_modules")
    port = ports.free_port()
    with http_server.served(tmp_path, port):
        said = typed(one("docs/clients.md", "inspector --cli").replace(PORT, str(port)), tmp_path, on_path)
    assert "run_python" in [tool["name"] for tool in json.loads(said)["tools"]]


def test_a_tool_call_of_a_model_is_answered(tmp_path, on_path):
    said = json.loads(typed(one("docs/clients.md", "pyexecd call"), tmp_path, on_path))
    assert said["tool_use_id"] == "toolu_1" and "42" in json.dumps(said["content"])


def text_of(result):
    return result["content"][0]["text"].strip()


def test_the_text_of_a_result_is_as_shown():
    code = "open('rows.csv', 'w').write('x' * 24)\nprint(3.875)"
    with Client(installed.PYEXECD) as client:
        said = text_of(client.request("tools/call", {"name": "run_python", "arguments": {"code": code}}))
    assert NAMED.sub("", said) == NAMED.sub("", one("README.md", "Code output: 3.875").strip())


def test_the_text_of_code_blocks_is_as_shown(tmp_path):
    config = written(tmp_path, "config.yaml", one("docs/code-blocks.md", "code_blocks: {}"))
    blocks = [{"language": "python", "code": "print(sum(range(11)))"},
              {"language": "sh", "code": "echo partly; exit 3"},
              {"language": "python", "code": "print('never')"}]
    with Client(installed.PYEXECD, "--config", str(config)) as client:
        said = text_of(client.request("tools/call", {"name": "run_code_blocks", "arguments": {"blocks": blocks}}))
    shown = one("docs/code-blocks.md", "Block 1 of 3").strip()
    assert said == shown


def test_a_person_is_asked_as_shown(tmp_path, monkeypatch):
    questions = []

    def ask(question):
        questions.append(question)
        return False, "keep the tests"

    (tmp_path / "data").mkdir()
    config = written(tmp_path, "config.yaml", f"approval: always\nworking_directory: {tmp_path}/data\n"
                     "environments: {system: {type: system, executable: /usr/bin/python3}}\n")
    monkeypatch.chdir("/")  # which no script is shown
    with ApprovingClient(ask, os.path.abspath(installed.PYEXECD), "--config", str(config)) as client:
        with pytest.raises(ToolError) as refusal:
            client.run_python("import os\nos.remove(\"tests.csv\")\n")
    assert str(refusal.value).strip() in re.sub(r"\s+", " ", document_text("docs/security.md"))
    assert questions[0].strip().replace(str(tmp_path), "/srv") == one("docs/security.md", "Answer yes or no").strip()


def test_a_definition_that_is_not_allowed_is_refused_as_shown():
    definition = {"type": "docker", "image": "evil/x:1"}
    with Client(installed.PYEXECD) as client:
        refused = client.request("tools/call", {"name": "run_python", "arguments": {
            "code": "1", "environment_definition": definition}})
    assert one("docs/environments.md", "is not among").strip() in text_of(refused)


@pytest.mark.parametrize("block", [pytest.param(block, id=repr(block)) for block in BLOCKS
                                   if block.document == "docs/autogen.md" and block.language == "diff"])
def test_a_changed_import_is_one(block, tmp_path):
    text = "\n".join(line[1:] for line in block.text.splitlines() if line.startswith("+") and " import " in line)
    old = "autogen" if "autogen_ext" in block.text else "ag2"
    done = installed.run(installed.python(old), "-c", text, home=tmp_path, PYTHONPATH=str(python_package.FOLDER))
    assert text and done.returncode == 0, done
