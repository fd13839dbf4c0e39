"""The container image that `./dev image` builds: by Docker's default profile it serves the client that started it, as
root and as a user, says what boundary it has, serves HTTP by one option, and says that it is well."""

import json
import os
import pathlib
import platform
import subprocess
import urllib.error
import urllib.request

import pytest

import client
import leftovers

ROOT = pathlib.Path(__file__).resolve().parents[2]
SDK = ROOT / ".deps/mcp/bin/python"
CLIENT = ROOT / "tests/fresh/first_result.py"
TOKEN = "a-token-of-the-tests-0123456789"
HTTP = ["--config", "/etc/pyexecd/http.yaml"]
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "run_python", "arguments": {"code": "print(6 * 7)"},
    "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
              "io.modelcontextprotocol/clientCapabilities": {}}}}
USERS = {"its own user": [], "root": ["--user", "0:0"], "any user": ["--user", "4242:4242"]}

pytestmark = [pytest.mark.heavy,
              pytest.mark.skipif(tuple(map(int, platform.release().split(".")[:2])) < (6, 12),
                                 reason="without namespaces nothing but Landlock of Linux 6.12 holds a run there")]


@pytest.fixture
def serve(docker, released_image):
    """Starts a container in the background that serves HTTP, with OPTIONS of docker run; its name."""
    started = []

    def start(*options):
        started.append(docker("run", "--detach", *options, released_image, *HTTP))
        return started[-1]

    yield start
    for name in started:
        docker("rm", "--force", "--volumes", name)


@pytest.mark.parametrize("user", [pytest.param(user, marks=[pytest.mark.release] * (user == "any user")) for user in USERS])
def test_the_receipt_names_the_boundary(engine, released_image, user):
    command = ["docker", "run", "--interactive", "--rm", *USERS[user], released_image, "--results", "structured"]
    with client.Server(command=command, environment={**os.environ, **engine.environment}) as server:
        server.initialize()
        content = server.call_tool("run_python", {"code": "print(6 * 7)"})["structuredContent"]
    assert content["stdout"] == "42\n", content
    containment = content["containment"]
    assert (content["isolation"], containment["process_tree"]) == ("sandbox", "landlock")
    absent = {layer for layer, state in containment["layers"].items() if state == "absent"}
    assert absent == {"own root directory", "own network"}
    for layer in absent:
        assert any(reason.startswith(f"{layer}: ") for reason in containment["missing"]), containment


def test_the_client_of_an_sdk_starts_it(engine, released_image):
    if not SDK.exists():
        pytest.skip("no .deps/mcp: ./dev deps installs it")
    done = subprocess.run([SDK, CLIENT, "docker", "run", "-i", "--rm", released_image], capture_output=True, text=True,
                          timeout=120, env={**os.environ, **engine.environment})
    assert done.returncode == 0, done
    assert "42" in json.loads(done.stdout)["text"]


def ask(url, token):
    """What a client that shows TOKEN gets, or the status of a refusal. Its `Host` says 8080, as that of users does."""
    request = urllib.request.Request(url, json.dumps(CALL).encode(), {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Method": "tools/call",
        "Host": "127.0.0.1:8080", "Mcp-Name": "run_python", "MCP-Protocol-Version": "2026-07-28",
        "Authorization": f"Bearer {token}"})
    try:
        return urllib.request.urlopen(request, timeout=60).read().decode()
    except urllib.error.HTTPError as error:
        return error.code


@pytest.fixture
def token_file(tmp_path):
    """A token that only the user of the container can read."""
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    os.chown(path, 1000, 1000)
    tmp_path.chmod(0o755)
    return path


def test_one_option_serves_http_to_who_has_the_token(docker, serve, token_file):
    container = serve("--publish", "127.0.0.1::8080", "--health-interval", "1s",
                      "--volume", f"{token_file}:/run/secrets/pyexecd-token:ro")
    assert leftovers.until(lambda: docker("inspect", "--format", "{{.State.Health.Status}}", container) == "healthy"), \
        docker("logs", container)
    url = f"http://{docker('port', container, '8080')}/mcp"
    assert "42" in ask(url, TOKEN)
    assert ask(url, "another-token-of-nobody") == 401


def test_without_a_token_it_does_not_serve_the_network(docker, serve):
    container = serve()
    assert docker("wait", container) == "78"
