"""Clients share one server: what one of them takes, uses up or fills is its own."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

import pytest

import client
import leftovers
import wire
from test_approval import ACCEPT, ELICITATION, KEY
from test_fallback import needs_x86_64, without

DECLINE = {"action": "decline"}


@pytest.fixture
def tokens(tmp_path):
    """A token file with the lines of {name: options}."""
    path = tmp_path / "tokens"

    def write(principals):
        path.write_text("".join(
            f"{name} sha256:{hashlib.sha256(token_of(name).encode()).hexdigest()} {options}\n"
            for name, options in principals.items()))
        path.chmod(0o600)
        return path

    return write


def token_of(name):
    return name * 8


def enter(server, name, revision=wire.NEWEST_LEGACY, capabilities=None):
    """A connection to SERVER as the principal NAME."""
    connection = server.connect()
    connection.send_line(f"Authorization: Bearer {token_of(name)}")
    connection.initialize(revision, capabilities)
    return connection


# Approvals


def ask(connection, code):
    """The state of a call that waits for approval."""
    return connection.request("tools/call", {"name": "run_python", "arguments": {"code": code}})[
        "requestState"]


def answer(connection, code, state, decision):
    return connection.request("tools/call", {
        "name": "run_python", "arguments": {"code": code}, "requestState": state,
        "inputResponses": {KEY: decision}})


def test_approvals_that_one_client_declined_void_nobody_elses(tokens):
    path = tokens({"alice": "calls_per_minute=1000000", "bob": ""})
    config = {"token_file": str(path), "approval": "always"}
    with client.Server(transport="tcp", config=config) as server:
        alice = enter(server, "alice", wire.MODERN, ELICITATION)
        bob = enter(server, "bob", wire.MODERN, ELICITATION)
        state = ask(bob, "print(6 * 7)")
        for _ in range(1100):
            assert answer(alice, "1", ask(alice, "1"), DECLINE)["isError"]
        assert answer(bob, "print(6 * 7)", state, ACCEPT)["structuredContent"]["stdout"] == "42\n"
        alice.close()
        bob.close()


# Places

SLEEP = "import time; time.sleep(600)"


def sleep(connection, count):
    """So many runs of CONNECTION that go, or wait, for longer than any test."""
    return [connection.start_tool("run_python", {"code": SLEEP, "timeout": 500}) for _ in range(count)]


def prints(connection):
    result = connection.call_tool("run_python", {"code": "print(1)"})
    assert result["structuredContent"]["stdout"] == "1\n", result


def going(server, count):
    """Waits until COUNT runs have begun."""
    assert leftovers.until(lambda: len(re.findall(r"run \d+ started", server.stderr())) == count,
                           client.TIMEOUT), server.stderr()


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_sleeping_runs_of_one_connection_do_not_keep_another_waiting(transport):
    with client.Server("--log-level", "debug", transport=transport) as server:
        server.initialize()
        sleep(server, 6)
        going(server, 4)
        other = server.connect()
        other.initialize()
        prints(other)
        prints(other)
        other.close()


def test_many_connections_of_one_client_leave_places_for_another(tokens):
    path = tokens({"alice": "", "bob": ""})
    with client.Server("--log-level", "debug", transport="tcp",
                       config={"token_file": str(path)}) as server:
        hers = [enter(server, "alice") for _ in range(12)]
        for connection in hers:
            sleep(connection, 4)
        going(server, 6)
        bob = enter(server, "bob")
        for _ in range(3):
            prints(bob)
        for connection in [bob, *hers]:
            connection.close()


def test_who_has_no_run_is_not_told_that_the_server_is_busy(tokens):
    path = tokens({"alice": "", "bob": ""})
    config = {"token_file": str(path), "limits": {"concurrent_runs": 2, "queued_runs": 4}}
    with client.Server("--log-level", "debug", transport="tcp", config=config) as server:
        hers = [enter(server, "alice") for _ in range(3)]
        for connection in hers:
            sleep(connection, 6)
        going(server, 3)
        bob = enter(server, "bob")
        prints(bob)
        for connection in [bob, *hers]:
            connection.close()


# A script and its own server

CALL = """
import json, socket, sys
address = {address!r}
family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
def ask(message, head=""):
    with socket.socket(family) as stream:
        stream.settimeout(25)
        if {source!r}:
            stream.bind({source!r})
        stream.connect(address)
        if {http}:
            message = head + str(len(message)) + "\\r\\n\\r\\n" + message
        try:
            stream.sendall(message.encode() + b"\\n")
        except OSError:
            pass
        text = b""
        while True:
            try:
                more = stream.recv(65536)
            except ConnectionResetError:
                break
            text += more
            if not more or more.endswith(b"\\n"):
                return text.decode()
        return text.decode()
HEAD = ("POST /mcp HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r\\n"
        "Accept: application/json, text/event-stream\\r\\nMCP-Protocol-Version: 2026-07-28\\r\\n"
        "Mcp-Method: server/discover\\r\\nContent-Length: ")
def call():
    return ask('{{"jsonrpc":"2.0","id":1,"method":"ping"}}', HEAD)
"""

# How a script connects: itself, from a daemon that forked twice, from a thread of a child.
WAYS = {
    "itself": "print(call())",
    "a daemon": """
import os, time
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent:
            time.sleep(.01)
        os.write(writer, call().encode())
    os._exit(0)
os.wait()
os.close(writer)
print(os.read(reader, 65536).decode())
""",
    "a thread": """
import os, threading
if os.fork() == 0:
    thread = threading.Thread(target=lambda: print(call(), flush=True))
    thread.start()
    thread.join()
    os._exit(0)
os.wait()
""",
    "hidden": """
import ctypes
ctypes.CDLL(None).prctl(4, 0)
print(call())
""",
}
# A script in a sandbox finds no way to its server, so these are not in one.
UNHELD = {"environments": {"system": {"type": "system", "isolation": "none"}}}
REFUSED = ["A script cannot call the server that runs it",
           "The process that has connected cannot be found"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("transport", ["unix", "tcp", "http"])
def test_a_script_cannot_call_the_server_that_runs_it(transport, way):
    with client.Server(transport=transport, config=UNHELD) as server:
        server.initialize()
        code = CALL.format(address=server.address, http=transport == "http", source=None)
        answer = server.call_tool("run_python", {"code": code + WAYS[way]})["structuredContent"]
        assert any(words in answer["stdout"] for words in REFUSED), answer
        assert ("403 Forbidden" in answer["stdout"]) == (transport == "http")
        assert "was refused" in server.stderr()
        prints(server)


def address_of_machine():
    """An address of this machine that is not a loopback address. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has only loopback addresses")
        return probe.getsockname()[0]


@pytest.mark.parametrize("transport", ["tcp", "http"])
def test_a_script_that_comes_from_another_address_of_the_machine_cannot_either(transport):
    with client.Server(transport=transport, config=UNHELD) as server:
        server.initialize()
        code = CALL.format(address=server.address, http=transport == "http",
                           source=(address_of_machine(), 0))
        answer = server.call_tool("run_python", {"code": code + WAYS["itself"]})["structuredContent"]
        assert any(words in answer["stdout"] for words in REFUSED), answer


@needs_x86_64
@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_a_script_without_a_namespace_cannot_either(transport):
    with client.Server(transport=transport, command=without("namespaces"), config=UNHELD) as server:
        server.initialize()
        code = CALL.format(address=server.address, http=False, source=None)
        answer = server.call_tool("run_python", {"code": code + WAYS["a daemon"]})
        answer = answer["structuredContent"]
        assert answer["containment"]["process_tree"] != "pid namespace"
        assert any(words in answer["stdout"] for words in REFUSED), answer


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_a_script_that_hides_shuts_out_nobody(tmp_path, transport):
    """Its descriptors cannot be looked at, so the client's must be."""
    with client.Server(transport=transport, config={"working_directory": str(tmp_path)}) as server:
        server.initialize()
        server.start_tool("run_python", {
            "code": f"import ctypes; ctypes.CDLL(None).prctl(4, 0); open('hidden', 'w'); {SLEEP}"})
        assert leftovers.until((tmp_path / "hidden").exists)
        for _ in range(2):
            other = server.connect()
            other.initialize()
            prints(other)
            other.close()


HIDDEN = """
import os, socket, time
def wait(name):
    while not os.path.exists(name):
        time.sleep(.01)
open("ready", "w")
wait("go")
one, other = socket.socketpair()
stream = socket.create_connection({address!r})
stream.sendall(b'{{"jsonrpc":"2.0","id":1,"method":"ping"}}\\n')
socket.send_fds(one, [b"x"], [stream.fileno()])
stream.close()
open("hidden", "w")
wait("look")
_, (fd,), _, _ = socket.recv_fds(other, 1, 1)
print(socket.socket(fileno=fd).recv(65536).decode())
"""


def test_a_connection_that_no_process_holds_is_known_by_its_control_group(tmp_path):
    """It is in a message on its way while the server looks."""
    def wait(name):
        assert leftovers.until((tmp_path / name).exists, client.TIMEOUT), name

    config = {**UNHELD, "working_directory": str(tmp_path)}
    with client.Server(transport="tcp", config=config) as server:
        server.initialize()
        call = server.start_tool("run_python", {"code": HIDDEN.format(address=server.address)})
        wait("ready")
        server.process.send_signal(signal.SIGSTOP)
        (tmp_path / "go").touch()
        wait("hidden")
        server.process.send_signal(signal.SIGCONT)
        other = server.connect()  # behind the hidden one
        other.initialize()
        other.close()
        (tmp_path / "look").touch()
        answer = server.wait(call)["result"]["structuredContent"]
        if not holds_by_unified_group():
            pytest.skip("no writable cgroup v2: such a connection is not recognised")
        assert REFUSED[0] in answer["stdout"], answer


def holds_by_unified_group():
    """Whether this user can make control groups below its own in the v2 hierarchy."""
    mounts = [line.split() for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
    roots = [fields[1] for fields in mounts if fields[2] == "cgroup2"]
    (own,) = [line[3:] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()
              if line.startswith("0::")] or [None]
    return bool(roots) and os.access(roots[0] + own, os.W_OK)


def test_a_process_that_ended_after_it_connected_is_not_served():
    """Its number may be that of any other process by then."""
    code = """
import os, socket, time
address = {address!r}
ours, its = socket.socketpair()
if os.fork() == 0:
    os.kill(os.getppid(), 0)
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(address)
    socket.send_fds(its, [b"x"], [stream.fileno()])
    os._exit(0)
_, (fd,), _, _ = socket.recv_fds(ours, 1, 1)
print(socket.socket(fileno=fd).recv(65536).decode())
"""
    with client.Server(transport="unix", config=UNHELD) as server:
        server.initialize()
        answer = server.call_tool("run_python", {"code": code.format(address=server.address)})
        assert '"code":-32600' in answer["structuredContent"]["stdout"], answer


# Environments

ENVIRONMENTS = {"system": {"type": "system"},
                "plain": {"type": "system", "timeout": 7, "max_timeout": 70},
                "third": {"type": "system"}}


@pytest.mark.parametrize("revision", [wire.NEWEST_LEGACY, wire.MODERN])
def test_a_client_sees_and_gets_the_environments_that_it_may_use(revision, tokens):
    path = tokens({"alice": "environments=third,plain", "bob": ""})
    config = {"token_file": str(path), "environments": ENVIRONMENTS, "max_timeout": 600,
              "callers": {"define_environments": True}}
    with client.Server(transport="tcp", config=config) as server:
        bob = enter(server, "bob", revision)
        alice = enter(server, "alice", revision)
        for connection, names, scope, default in (
                (bob, ["system", "plain", "third"], "public", "system"),
                (alice, ["plain", "third"], "private", "plain"),
                (bob, ["system", "plain", "third"], "public", "system")):
            connection.results = None  # what asks for anything is private
            page = connection.request("tools/list")
            connection.results = "structured"
            assert page.get("cacheScope", scope) == scope
            (tool,) = page["tools"]
            properties = tool["inputSchema"]["properties"]
            assert properties["environment"]["enum"] == names
            assert f"Default: {default}." in properties["environment"]["description"]
            assert ("environment_definition" in properties) == (connection is bob)
            result = connection.call_tool("run_python", {"code": "print(1)"})
            assert result["structuredContent"]["environment"] == default
        assert "7 seconds" in tool_of(alice)["description"]
        prompt = alice.request("prompts/get", {"name": "code_writer"})
        words = prompt["messages"][0]["content"]["text"]
        assert 'without it: "plain"' in words and "system (" not in words
        refused = alice.call_tool("run_python", {"code": "1", "environment": "system"})
        assert refused["isError"] and "you may use: " in refused["content"][0]["text"]
        for connection in (alice, bob):
            connection.close()


def tool_of(connection):
    (tool,) = connection.list_tools()
    return tool


# Connections and sessions

CROWD = 64
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'

# Another program of the same user: keeps as many connections as it can get, each with LINES sent.
GREEDY = """
import socket, sys
streams = []
for _ in range({count}):
    stream = socket.socket({family})
    stream.settimeout(25)
    stream.connect({address!r})
    try:
        stream.sendall({text!r})
        if stream.recv(65536):
            streams.append(stream)
    except OSError:
        pass
print(len(streams), flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def greedy(address, text, count=CROWD):
    """The number of times that another program was answered TEXT and stays connected."""
    family = "socket.AF_INET" if isinstance(address, tuple) else "socket.AF_UNIX"
    code = GREEDY.format(count=count, family=family, address=address, text=text)
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        yield int(process.stdout.readline())
        process.stdin.close()


def test_a_program_does_not_shut_out_others_of_its_user():
    with client.Server(transport="unix") as server:
        server.initialize()
        with greedy(server.address, PING), greedy(server.address, PING):
            others = [server.connect() for _ in range(4)]
            for other in others:
                other.initialize()
                other.close()


def test_a_client_does_not_shut_out_others_at_its_address(tokens):
    path = tokens({"alice": "", "bob": ""})
    with client.Server(transport="tcp", config={"token_file": str(path)}) as server:
        login = f"Authorization: Bearer {token_of('alice')}\n".encode()
        with greedy(server.address, login + PING):
            bob = enter(server, "bob")
            prints(bob)
            bob.close()


def test_the_same_holds_over_http(tokens):
    path = tokens({"alice": "", "bob": ""})
    with client.Server(transport="http", config={"token_file": str(path)}) as server:
        def head(name):
            return (f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.address[1]}\r\nAuthorization: Bearer "
                    f"{token_of(name)}\r\nContent-Type: application/json\r\nAccept: application/json,"
                    f" text/event-stream\r\nContent-Length: {len(INITIALIZE)}\r\n\r\n").encode()
        with greedy(server.address, head("alice") + INITIALIZE):
            with socket.create_connection(server.address, client.TIMEOUT) as stream:
                stream.sendall(head("bob") + INITIALIZE)
                assert stream.recv(65536).startswith(b"HTTP/1.1 200 ")


INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
}}).encode()

# Opens sessions at an HTTP address on a unix socket and listens on each, so that they stay busy.
LISTENER = """
import re, socket, sys
def ask(head, body=b""):
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(25)
    stream.connect({address!r})
    stream.sendall((head + "Host: localhost\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)).encode() + body)
    return stream, stream.recv(65536).decode()
kept = []
for _ in range({count}):
    _, answer = ask("POST /mcp HTTP/1.1\\r\\nContent-Type: application/json\\r\\n"
                    "Accept: application/json, text/event-stream\\r\\n", {body!r})
    found = re.search("Mcp-Session-Id: (\\\\S+)", answer)
    if found:
        stream, answer = ask("GET /mcp HTTP/1.1\\r\\nAccept: text/event-stream\\r\\n"
                             "MCP-Protocol-Version: 2025-06-18\\r\\n"
                             "Mcp-Session-Id: " + found[1] + "\\r\\n")
        kept.append(stream)
print(len(kept), flush=True)
sys.stdin.read()
"""


def listener(address, count):
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENER.format(address=address, count=count, body=INITIALIZE)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    return process, int(process.stdout.readline())


def test_sessions_of_a_program_do_not_shut_out_others_of_its_user(tmp_path):
    address = str(tmp_path / "socket")
    config = {"listen": [f"unix://{address}#/mcp"], "http": {"sessions": 8}}
    with client.Server(transport="tcp", config=config) as server:
        server.initialize()
        programs = []
        for expected in (4, 1):
            programs.append(listener(address, 8 if expected == 4 else 1))
            assert programs[-1][1] == expected
        for process, _ in programs:
            process.stdin.close()
            process.stdout.close()
            process.wait(client.TIMEOUT)
