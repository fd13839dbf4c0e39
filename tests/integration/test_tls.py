"""HTTP in TLS."""

import hashlib
import http.client
import json
import os
import select
import shutil
import signal
import socket
import ssl
import subprocess
import time

import pytest

import client
import ports
from authorization_server import openssl

TOKEN = "a-token-that-nobody-guesses"
BIG = 3_000_000
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def make_certificate(folder, name="server"):
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout", str(key), "-out", str(certificate))
    key.chmod(0o600)
    return certificate, key


class Https:
    """A server with a certificate of its own, and connections to it."""

    def __init__(self, folder):
        self.folder = folder
        self.certificate, self.key = make_certificate(folder)
        self.port = ports.free_port()
        tokens = folder / "tokens"
        tokens.write_text(f"alice sha256:{hashlib.sha256(TOKEN.encode()).hexdigest()}\n")
        tokens.chmod(0o600)
        self.server = client.Server(transport="tcp", config={
            "listen": [f"https://127.0.0.1:{self.port}/mcp"], "token_file": str(tokens),
            "tls": {"certificate": str(self.certificate), "key": str(self.key)}})

    def trust(self, certificate=None):
        context = ssl.create_default_context(cafile=str(certificate or self.certificate))
        context.set_alpn_protocols(["h2", "http/1.1"])
        return context

    def connect(self, context=None):
        raw = socket.create_connection(("127.0.0.1", self.port), client.TIMEOUT)
        return (context or self.trust()).wrap_socket(raw, server_hostname="localhost")

    def connection(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=client.TIMEOUT,
                                           context=self.trust())


@pytest.fixture
def https(tmp_path):
    served = Https(tmp_path)
    with served.server:
        yield served


def post(connection, message, session=None):
    fields = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json",
              "Accept": "application/json, text/event-stream"}
    if session:
        fields["Mcp-Session-Id"] = session
    connection.request("POST", "/mcp", json.dumps(message), fields)
    answer = connection.getresponse()
    return answer, answer.read()


def initialize(connection):
    answer, _ = post(connection, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}})
    assert answer.status == 200
    return answer.headers["Mcp-Session-Id"]


def test_a_connection_serves_many_requests(https):
    connection = https.connection()
    session = initialize(connection)
    for _ in range(20):
        answer, body = post(connection, PING, session)
        assert answer.status == 200 and json.loads(body)["result"] == {}
    assert connection.sock.version() == "TLSv1.3"
    assert connection.sock.selected_alpn_protocol() == "http/1.1"


def test_large_messages_pass_both_ways_to_a_slow_client(https):
    """Neither end takes it at once: the client's window is small, and it waits before it reads."""
    session = initialize(https.connection())
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    raw.connect(("127.0.0.1", https.port))
    connection = https.connection()
    connection.sock = https.trust().wrap_socket(raw, server_hostname="localhost")
    text = "".join(f"{number:8}" for number in range(110_000))
    connection.request("POST", "/mcp", json.dumps({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "run_python", "arguments": {"code": f"print('{text}')"},
                   "_meta": client.STRUCTURED}}), {
            "Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session})
    time.sleep(0.5)
    result = json.loads(connection.getresponse().read())["result"]
    assert result["structuredContent"]["stdout"] == text + "\n"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what is older
def test_tls_1_2_is_spoken_and_nothing_older(https):
    context = https.trust()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert https.connect(context).version() == "TLSv1.2"
    context = https.trust()
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        https.connect(context)


def test_http_in_clear_is_told_what_this_is(https):
    connection = http.client.HTTPConnection("127.0.0.1", https.port, timeout=client.TIMEOUT)
    connection.request("POST", "/mcp", "x" * BIG)
    answer = connection.getresponse()
    assert answer.status == 400
    assert b"https://" in answer.read()


def test_garbage_is_closed(https):
    with socket.create_connection(("127.0.0.1", https.port), client.TIMEOUT) as connection:
        connection.sendall(b"\x16\x03\x01\x00\x05hello" * 10)
        connection.settimeout(client.TIMEOUT)
        try:
            while connection.recv(1000):
                pass
        except ConnectionResetError:
            pass


def test_every_split_of_a_request_is_served(https):
    request = (f"POST /mcp HTTP/1.1\r\nHost: localhost:{https.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
               "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
               "Content-Length: 5\r\n\r\n12345").encode()
    stream = https.connect()
    for byte in request:
        stream.send(bytes([byte]))
    assert stream.recv(100).startswith(b"HTTP/1.1 400 ")  # a number is no message


@pytest.mark.once
def test_whoever_does_not_shake_hands_is_closed_in_time(https):
    silent = socket.create_connection(("127.0.0.1", https.port), client.TIMEOUT)
    slow = socket.create_connection(("127.0.0.1", https.port), client.TIMEOUT)
    slow.sendall(b"\x16\x03\x01\x02\x00\x01")  # a hello that never ends
    initialize(https.connection())  # others do not wait
    assert not select.select([silent, slow], [], [], 0)[0]
    for peer in (silent, slow):
        assert peer.recv(100) == b""


def test_the_end_is_said_in_tls(https):
    stream = https.connect()
    stream.sendall(f"GET /nowhere HTTP/1.1\r\nHost: localhost:{https.port}\r\nConnection: close\r\n\r\n"
                   .encode())
    received = b""
    while True:  # an end that nobody has signed would be an error
        part = stream.recv(4096)
        if not part:
            break
        received += part
    assert received.startswith(b"HTTP/1.1 404 ")


def test_a_new_certificate_is_read_on_sighup(https):
    old = https.connection()
    session = initialize(old)
    renewed, key = make_certificate(https.folder, "renewed")
    renewed.replace(https.certificate)
    key.replace(https.key)
    https.server.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + client.TIMEOUT
    while True:
        try:
            https.connect().close()  # trusts the new one only
            break
        except ssl.SSLError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert post(old, PING, session)[0].status == 200
    https.key.write_text("no key")
    https.server.process.send_signal(signal.SIGHUP)
    while "the certificate stays as it was" not in https.server.stderr():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    https.connect().close()


def check(tmp_path, **tls):
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({"listen": ["https://127.0.0.1:8443"], "auth": "none", **tls}))
    config.chmod(0o600)
    checked = subprocess.run([os.environ["PYEXECD"], "--check-config", "--config", str(config)],
                             capture_output=True, text=True, timeout=client.TIMEOUT)
    return checked.stderr


def test_what_cannot_be_used_is_told(tmp_path):
    certificate, key = make_certificate(tmp_path)
    _, other = make_certificate(tmp_path, "other")
    files = {"certificate": str(certificate), "key": str(key)}
    assert "listen.0: it needs tls: {certificate: FILE, key: FILE}" in check(tmp_path)
    assert check(tmp_path, tls=files) == ""
    assert "no certificate can be read" in check(tmp_path, tls={**files, "certificate": str(key)})
    assert "it is not that of the certificate" in check(tmp_path, tls={**files, "key": str(other)})
    key.chmod(0o644)
    assert "others may read" in check(tmp_path, tls=files)


@pytest.mark.skipif(not shutil.which("curl"), reason="no curl")
def test_curl_is_served(https):
    message = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "curl", "version": "1"}}})
    answer = subprocess.run(
        ["curl", "-sS", "--cacert", str(https.certificate), f"https://localhost:{https.port}/mcp",
         "-H", f"Authorization: Bearer {TOKEN}", "-H", "Content-Type: application/json",
         "-H", "Accept: application/json, text/event-stream", "-d", message],
        capture_output=True, text=True, timeout=client.TIMEOUT)
    assert answer.stderr == ""
    assert json.loads(answer.stdout)["result"]["serverInfo"]["name"] == "pyexecd"
