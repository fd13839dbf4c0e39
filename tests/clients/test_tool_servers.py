"""Servers of tools that others have made, as an operator configures them: `pyexecd tools` lists and calls them."""

import base64
import contextlib
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

import installed
import ports

sys.path.append(str(installed.ROOT / "tests" / "integration"))
from sessions import Session  # noqa: E402

# By its path, since the examples have a module of this name, too.
SPECIFICATION = importlib.util.spec_from_file_location("integration_client", installed.ROOT / "tests/integration/client.py")
client = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(client)

DEPS = pathlib.Path(__file__).resolve().parents[2] / ".deps"
NODE = DEPS / "node" / "bin" / "node"
PACKAGES = DEPS / "tool_servers" / "node_modules" / "@modelcontextprotocol"
PYTHON = DEPS / "tool_servers_python" / "bin"
SQLITE = DEPS / "tool_servers_sqlite" / "bin" / "mcp-server-sqlite"
PATIENCE = 120

pytestmark = pytest.mark.skipif(not PACKAGES.exists() or not SQLITE.exists(), reason="needs the servers of tools")


def node(name, *arguments):
    return [str(NODE), str(PACKAGES / f"server-{name}" / "dist" / "index.js"), *map(str, arguments)]


class Tools:
    def __init__(self, folder, **servers):
        self.config = folder / "config.yaml"
        self.config.write_text(json.dumps({"tools": servers}))
        self.config.chmod(0o600)

    def run(self, *words):
        return subprocess.run([installed.PYEXECD, "tools", *words, "--config", self.config], capture_output=True,
                              text=True, timeout=PATIENCE)

    def names(self):
        listed = self.run("list", "--json")
        assert listed.returncode == 0, listed.stderr
        return {f"{tool['server']}.{tool['name']}" for tool in json.loads(listed.stdout)}

    def call(self, tool, **arguments):
        called = self.run("call", tool, json.dumps(arguments))
        assert called.stdout, called.stderr
        return json.loads(called.stdout)

    def text(self, tool, **arguments):
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result
        return result["content"][0]["text"]


@contextlib.contextmanager
def served(*command, **variables):
    """COMMAND, which serves HTTP at a port of its own; its URL."""
    port = ports.free_port()
    process = subprocess.Popen(command, env={**os.environ, "PORT": str(port), **variables},
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)  # node is a program of Python's that starts another one
    try:
        for line in process.stderr:
            if re.search("listening|running", line):
                break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()


def check_everything(tools):
    """Each type of content comes as it was sent."""
    assert tools.text("all.echo", message="süß") == "Echo: süß"
    (_, picture, _) = tools.call("all.get-tiny-image")["content"]
    assert picture["mimeType"] == "image/png"
    assert base64.b64decode(picture["data"], validate=True).startswith(b"\x89PNG\r\n\x1a\n")
    links = tools.call("all.get-resource-links", count=2)["content"]
    assert [block["type"] for block in links] == ["text", "resource_link", "resource_link"]
    blob = tools.call("all.get-resource-reference", resourceType="Blob", resourceId=1)["content"][1]
    assert base64.b64decode(blob["resource"]["blob"])
    weather = tools.call("all.get-structured-content", location="Chicago")
    assert weather["structuredContent"] == json.loads(weather["content"][0]["text"])
    assert tools.call("all.get-annotated-message", messageType="error", includeImage=True)["content"][0]["annotations"]
    assert tools.text("all.trigger-long-running-operation", duration=1, steps=4).startswith("Long running operation")


def test_everything_over_stdio(tmp_path):
    check_everything(Tools(tmp_path, all={"command": node("everything")}))


def test_everything_over_http(tmp_path):
    with served(*node("everything", "streamableHttp")) as url:
        check_everything(Tools(tmp_path, all={"url": url}))


def test_a_program_gets_only_its_own_variables(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_OTHERS", "not for servers")
    monkeypatch.setenv("SECRET_OF_TEST", "a-secret-of-the-operator")
    tools = Tools(tmp_path, all={"command": node("everything"), "environment": {"MINE": "${SECRET_OF_TEST}"}})
    variables = json.loads(tools.text("all.get-env"))
    assert variables["MINE"] == "[secret]"
    assert "SECRET_OF_OTHERS" not in variables


def test_files_and_memory(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.txt").write_text("of the operator")
    tools = Tools(tmp_path, files={"command": node("filesystem", folder), "deny": ["write_*"]},
                  memory={"command": node("memory"), "environment": {"MEMORY_FILE_PATH": str(tmp_path / "memory")}})
    names = tools.names()
    assert {"files.read_text_file", "memory.create_entities"} <= names
    assert "files.write_file" not in names
    assert tools.text("files.read_text_file", path=str(folder / "a.txt")) == "of the operator"
    assert tools.call("files.read_text_file", path="/etc/passwd")["isError"]
    assert "does not allow" in tools.run("call", "files.write_file", "{}").stderr
    tools.call("memory.create_entities", entities=[{"name": "Ada", "entityType": "person", "observations": ["wrote"]}])
    assert "Ada" in tools.text("memory.search_nodes", query="Ada")


def test_git_time_and_sqlite(tmp_path):
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", "-b", "main", repository], check=True)
    (repository / "a.txt").write_text("new")
    tools = Tools(tmp_path, git={"command": [str(PYTHON / "mcp-server-git"), "--repository", str(repository)]},
                  time={"command": [str(PYTHON / "mcp-server-time"), "--local-timezone", "UTC"]},
                  sqlite={"command": [str(SQLITE), "--db-path", str(tmp_path / "data.db")]})
    assert {"git.git_status", "time.get_current_time", "sqlite.read_query"} <= tools.names()
    assert "a.txt" in tools.text("git.git_status", repo_path=str(repository))
    assert json.loads(tools.text("time.get_current_time", timezone="UTC"))["datetime"].startswith(time.strftime("20"))
    tools.text("sqlite.create_table", query="CREATE TABLE t (a INTEGER)")
    tools.text("sqlite.write_query", query="INSERT INTO t VALUES (41), (1)")
    assert "42" in tools.text("sqlite.read_query", query="SELECT sum(a) AS s FROM t")


def test_npx_and_its_children_end_with_the_server(tmp_path):
    """The program of npx is a child of a shell, which is a child of npx."""
    tools = Tools(tmp_path, files={"command": ["sh", "-c", " ".join(node("filesystem", tmp_path)) + "; true"]})
    assert str(tmp_path) in tools.text("files.list_allowed_directories")
    assert not [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")
                if tmp_path.name.encode() in path.read_bytes()]


# Scripts

EVERYTHING = """
import base64, hashlib, json, os
import tools
from tools import everything
print(everything.echo(message="x"))
picture = everything.get_tiny_image()[1]
print(picture.mime_type, hashlib.sha256(picture.data).hexdigest(), picture.save())
print(everything.get_resource_links(count=1)[1]["type"])
print(everything.get_resource_reference(resourceType="Blob", resourceId=1)[1])
print(everything.get_structured_content(location="Chicago")["conditions"])
print(everything.get_sum(a=20, b=22))
print(tools.map(lambda n: everything.get_sum(a=n, b=n), range(4), parallel=4))
try:
    everything.echo(mesage="x")
except TypeError as error:
    print(str(error).splitlines()[0])
"""


def lines_of(text):
    lines = text.splitlines()
    assert lines[0] == "Echo: x", text
    assert re.fullmatch("image/png [0-9a-f]{64} picture-[0-9]+.png", lines[1]), text
    assert lines[2] == "resource_link"
    assert lines[3].startswith("<")
    assert lines[5].startswith("The sum of 20 and 22 is 42")
    assert lines[-1] == "everything.echo has no argument 'mesage'; did you mean 'message'?"
    return lines[1].split()[1]


@contextlib.contextmanager
def scripts(everything, **more):
    config = {"tools": {"everything": {**everything, "approval": "never"}}, "default_environment": "system",
              "sessions": {}, "code_blocks": {}, "max_timeout": 120, "timeout": 100, "environments": {
                  "system": {"type": "system", "tools": ["everything"]},
                  "none": {"type": "system", "isolation": "none", "tools": ["everything"]},
                  "venv": {"type": "venv", "tools": ["everything"]}}, **more}
    with client.Server(config=config) as server:
        server.initialize()
        yield server


def digest_in(server, tmp_path):
    """Of the picture, as a call by hand brings it."""
    tools = Tools(tmp_path, everything={"command": node("everything")})
    (picture,) = [block for block in tools.call("everything.get-tiny-image")["content"] if block["type"] == "image"]
    return hashlib.sha256(base64.b64decode(picture["data"])).hexdigest()


def test_scripts_call_everything_wherever_they_run(tmp_path):
    with scripts({"command": node("everything")}) as server:
        digest = digest_in(server, tmp_path)
        for environment in ("system", "system", "none", "venv"):
            result = server.call_tool("run_python", {"code": EVERYTHING, "environment": environment}, timeout=PATIENCE)
            told = result["structuredContent"]
            assert lines_of(told["stdout"]) == digest, told["stderr"]
            assert told["tools"]["everything.get-sum"]["calls"] == 5
        session = Session(server, "import tools")
        session.run(EVERYTHING)
        assert lines_of(session.result["stdout"]) == digest
        blocks = [{"language": "python", "code": EVERYTHING}]
        text = server.call_tool("run_code_blocks", {"blocks": blocks}, timeout=PATIENCE)["content"][0]["text"]
        assert digest in text


def test_scripts_call_everything_over_http(tmp_path):
    with served(*node("everything", "streamableHttp")) as url, scripts({"url": url}) as server:
        told = server.call_tool("run_python", {"code": EVERYTHING}, timeout=PATIENCE)["structuredContent"]
        assert lines_of(told["stdout"]) == digest_in(server, tmp_path), told["stderr"]


def test_the_page_is_right(tmp_path):
    """The program and the configuration of docs/tools.md, with the packages that are here."""
    page = (installed.ROOT / "docs" / "tools.md").read_text()
    config, program = re.findall(r"```(?:yaml|python)\n(.*?)```", page, re.DOTALL)
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.txt").write_text("four")
    (data / "b.txt").write_text("sixsix")
    command = json.dumps(node("filesystem", data))
    path = tmp_path / "config.yaml"
    path.write_text(config.replace('[npx, -y, "@modelcontextprotocol/server-filesystem", /srv/data]', command))
    path.chmod(0o600)
    assert command in path.read_text()
    with client.Server("--config", str(path)) as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": program.replace("/srv/data", str(data))}, timeout=PATIENCE)
        told = result["structuredContent"]
        assert told["stdout"] == "{'a.txt': 4, 'b.txt': 6}\n", told["stderr"]
