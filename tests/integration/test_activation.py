"""Sockets that a service manager opens, and hands over to the server."""

import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys

import client
import pytest
from test_tls import make_certificate
from test_transport import PING, PONG, TOKEN, ask, connect, program, receive_exactly

HAND_OVER = pathlib.Path(__file__).with_name("hand_over.py")
SYSTEMD = pathlib.Path(__file__).resolve().parents[2] / "systemd"
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client.CLIENT_INFO}}


@contextlib.contextmanager
def listening(host="127.0.0.1"):
    with socket.create_server((host, 0)) as listener:
        yield listener


@pytest.fixture
def configuration(tmp_path):
    """Writes a configuration of MORE beside a token of ada's; its path."""
    def write(**more):
        tokens = tmp_path / "tokens"
        tokens.write_text(f"ada sha256:{hashlib.sha256(TOKEN.encode()).hexdigest()}\n")
        path = tmp_path / "config.yaml"
        path.write_text(json.dumps({"token_file": str(tokens), **more}))
        for file in (tokens, path):
            file.chmod(0o600)
        return path
    return write


def started(sockets, *arguments):
    """The program, given SOCKETS, (name, listener) each."""
    named = [f"{name}={listener.fileno()}" for name, listener in sockets]
    return subprocess.Popen(
        [sys.executable, HAND_OVER, *named, "--", *program("--listen", "systemd", *arguments)],
        pass_fds=[listener.fileno() for _, listener in sockets], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


@contextlib.contextmanager
def activated(sockets, *arguments):
    """The program, given SOCKETS, until it is told to end, which it does without a complaint."""
    process = started(sockets, *arguments)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        _, complaints = process.communicate(timeout=client.STOP_TIMEOUT)
    assert process.returncode == 0, complaints


def status_for(token, connection):
    """The status of the answer to an `initialize` with TOKEN."""
    connection.request("POST", "/mcp", json.dumps(INITIALIZE), {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        **({"Authorization": f"Bearer {token}"} if token else {})})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def test_sockets_that_are_handed_over_are_served(tmp_path):
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(5)
        with connect(str(path)) as early:  # waits until the server is there
            early.sendall(PING)
            with activated([("pyexecd.socket", listener)]):
                assert receive_exactly(early, len(PONG)) == PONG
                with connect(str(path)) as stream:
                    ask(stream)
        assert path.exists()  # it belongs to the manager


def test_a_socket_named_http_speaks_http(configuration):
    """Beside one of another name, which has lines of messages; a token is needed at both."""
    with listening() as lines, listening() as web, \
            activated([("pyexecd.socket", lines), ("http", web)], "--config", configuration()):
        connection = http.client.HTTPConnection(*web.getsockname(), timeout=client.TIMEOUT)
        assert status_for(TOKEN, connection) == 200
        assert status_for(None, connection) == 401
        with connect(lines.getsockname()) as stream:
            stream.sendall(f"Authorization: Bearer {TOKEN}\n".encode())
            ask(stream)


def test_a_socket_named_https_speaks_tls_to_other_machines(configuration, tmp_path):
    certificate, key = make_certificate(tmp_path)
    config = configuration(tls={"certificate": str(certificate), "key": str(key)})
    with listening("0.0.0.0") as listener, activated([("https", listener)], "--config", config):
        connection = http.client.HTTPSConnection(
            "localhost", listener.getsockname()[1], timeout=client.TIMEOUT,
            context=ssl.create_default_context(cafile=str(certificate)))
        assert status_for(TOKEN, connection) == 200
        assert status_for("another-token-of-nobody", connection) == 401


@pytest.mark.parametrize("name, host, more, complaint", [
    ("https", "0.0.0.0", {}, r"cannot serve systemd: https://0\.0\.0\.0:\d+/mcp: it needs tls: \{certificate: FILE, key: FILE\}"),
    ("http", "0.0.0.0", {}, r"descriptor 3 listens beyond this machine; only a socket named https"),
    ("http", "127.0.0.1", {"token_file": None},
     r"http://127\.0\.0\.1:\d+/mcp: every user of this machine could connect"),
])
def test_a_socket_that_cannot_be_served_is_refused(configuration, name, host, more, complaint):
    config = configuration()
    settings = {**json.loads(config.read_text()), **more}
    config.write_text(json.dumps({key: value for key, value in settings.items() if value}))
    with listening(host) as listener:
        process = started([(name, listener)], "--config", config)
        _, complaints = process.communicate(timeout=client.TIMEOUT)
    assert process.returncode == os.EX_CONFIG
    assert re.search(complaint, complaints), complaints


def lines_until(process, wanted):
    """What PROCESS says, up to the line that has WANTED."""
    said = []
    while not said or wanted not in said[-1]:
        said.append(process.stderr.readline())
        assert said[-1], said
    return "".join(said)


def test_a_listen_that_the_command_line_replaces_is_named(configuration, tmp_path):
    """When the server starts, and when the file is read again, which promises nothing for the next start."""
    config = configuration(listen=[f"unix:{tmp_path}/nowhere"])
    told = f"{config}: listen: not used, because the command line has --listen systemd"
    with listening() as listener, activated([("http", listener)], "--log-level", "info", "--config", config) as server:
        assert told in lines_until(server, "listening")
        configuration(listen=[f"unix:{tmp_path}/elsewhere"])
        server.send_signal(signal.SIGHUP)
        said = lines_until(server, "the configuration was read again")
        assert told in said and "started again" not in said


def unit_arguments():
    """What the unit starts the program with."""
    unit = SYSTEMD / "pyexecd.service.in"
    return re.search(r"^ExecStart=\S+ (.*)$", unit.read_text(), re.M).group(1).split()


@pytest.mark.skipif(not shutil.which("systemd-socket-activate"),
                    reason="no systemd-socket-activate")
@pytest.mark.parametrize("form", ["the unit", "a connection each"])
def test_systemd_socket_activate_hands_over(tmp_path, form):
    """The listening socket, as the unit has it, or each connection as standard input and output (Accept=yes)."""
    path = tmp_path / "socket"
    options, arguments = {"the unit": ([], unit_arguments()), "a connection each": (["--accept", "--inetd"], [])}[form]
    process = subprocess.Popen(
        ["systemd-socket-activate", *options, "-l", str(path), *program(*arguments)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        with connect(str(path), process) as stream:
            ask(stream)
        process.send_signal(signal.SIGTERM)
        assert process.wait(client.STOP_TIMEOUT) in ([0] if form == "the unit" else [0, -signal.SIGTERM])
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
