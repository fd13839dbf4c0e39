"""Peers over HTTP that want no good: slow ones, many, ones that do not read, and ones that are
refused."""

import json
import pathlib
import re
import select
import socket
import threading
import time

import pytest

import client
import http_peer
import leftovers
from test_http_sessions import PING, PONG, call, opened
from test_http_stateless import LIST, modern

MIB = 1024 * 1024
CONNECTIONS = 256
SOON = 10.0  # seconds, on any machine


def resident(server):
    """Bytes of memory that the server has."""
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024


def connections(server):
    """Those that the server has not closed; its descriptors cannot be seen by every user."""
    open_states = ("01", "08")  # established, and closed by the other side
    ours = f":{server.address[1]:04X}"
    rows = [line.split() for line in open("/proc/net/tcp", encoding="ascii")][1:]
    return sum(row[1].endswith(ours) and row[3] in open_states for row in rows)


@pytest.fixture
def server():
    with client.Server(transport="http") as server:
        yield server


def assert_answers_soon(server):
    """A call of somebody else is answered, and not when something else is given up."""
    started = time.monotonic()
    assert server.http_peer().post(LIST).wait().status == 200
    assert time.monotonic() - started < SOON


class Dripper:
    """A connection that sends HEAD at once and DATA byte by byte."""

    def __init__(self, address, head, data):
        self.address = address
        self.head = head
        self.data = data
        self.stream = None
        self.drip()

    def drip(self):
        try:
            if self.stream is None:
                self.stream = socket.create_connection(self.address, client.TIMEOUT)
                self.stream.sendall(self.head.replace(b"PORT", b"%d" % self.address[1]))
                self.stream.setblocking(False)
                self.sent = 0
            self.sent += self.stream.send(self.data[self.sent:self.sent + 1])
        except OSError:
            self.close()

    def close(self):
        if self.stream:
            self.stream.close()
        self.stream = None


HEAD = (b"POST /mcp HTTP/1.1\r\nHost: localhost:PORT\r\nAccept: */*\r\n"
        b"Content-Type: application/json\r\n")


@pytest.mark.parametrize("head, data", [
    (b"", HEAD + b"X: " + b"x" * 9999),
    (HEAD, b"A: b\r\n" * 999),
    (HEAD + b"Content-Length: 9999\r\n\r\n", b"[" + b"1," * 9999),
    (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n[\r\n" * 999),
], ids=["a field without end", "fields without end", "a body", "chunks"])
def test_dripping_connections_keep_nobody_out(server, head, data):
    crowd = [Dripper(server.address, head, data) for _ in range(CONNECTIONS)]
    for _ in range(5):
        for dripper in crowd:
            dripper.drip()
        assert_answers_soon(server)
    for dripper in crowd:
        dripper.close()
    assert_answers_soon(server)


def test_connections_that_say_nothing_keep_nobody_out(server):
    crowd = [socket.create_connection(server.address, client.TIMEOUT) for _ in range(CONNECTIONS)]
    assert_answers_soon(server)
    for stream in crowd:
        stream.close()


REFUSED = 10000


def refusals(http):
    """Requests that are refused, by status."""
    fields = http.post_fields(PING)
    body = json.dumps(PING).encode()
    for status, changed in ((421, {"Host": "evil.example.com"}), (403, {"Origin": "null"}),
                            (415, {"Content-Type": "text/plain"}),
                            (400, {}), (404, {"Mcp-Session-Id": "0" * 32})):
        yield status, http_peer.request("POST", "/mcp", {**fields, **changed}, body)


def send_all(http, data, status, count):
    """Sends DATA over and over, in order on few connections."""
    wanted = f"HTTP/1.1 {status} ".encode()
    stream = None
    for _ in range(count):
        if stream is None:
            stream = http.connect()
        stream.sendall(data)
        head = receive_response(stream)
        assert head.startswith(wanted), head[:200]
        if b"Connection: close" in head:
            stream.close()
            stream = None
    if stream:
        stream.close()


def receive_response(stream):
    received = b""
    while b"\r\n\r\n" not in received:
        data = stream.recv(65536)
        assert data, f"closed after {received!r}"
        received += data
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += stream.recv(65536)
    return head


def assert_costs_nothing(server, http, cases, count):
    for status, data in cases:
        send_all(http, data, status, 200)  # whatever is made once is there now
    before = resident(server)
    for status, data in cases:
        send_all(http, data, status, count)
    assert leftovers.until(lambda: connections(server) == 0)
    gained = resident(server) - before
    if not leftovers.sanitized():  # which keeps what is freed
        refused = count * len(cases)  # a session is some 100 times as much; the server does other things, too
        assert gained < 32 * refused, f"{gained} bytes after {refused} refused requests"


def test_refused_requests_cost_nothing(server):
    http = server.http_peer()
    cases = list(refusals(http))
    assert_costs_nothing(server, http, cases, REFUSED // len(cases))


@pytest.fixture
def guarded(tmp_path):
    """A server that wants a token."""
    token_file = tmp_path / "token"
    token_file.write_text("correct-horse-battery-staple")
    token_file.chmod(0o600)
    with client.Server(transport="http", config={"token_file": str(token_file)}) as server:
        yield server


def test_strangers_cost_nothing(guarded):
    http = guarded.http_peer()
    http.token = None
    data = http_peer.request("POST", "/mcp", http.post_fields(PING), json.dumps(PING).encode())
    assert_costs_nothing(guarded, http, [(401, data)], REFUSED)


def test_strangers_that_do_not_wait_for_their_refusal(guarded):
    """Bad tokens are answered late when there are many."""
    http = guarded.http_peer()
    http.token = "a-token-that-nobody-has"
    for _ in range(10):
        assert http.post(LIST).wait().status == 401
    for _ in range(50):
        http.post(LIST).close()
    late = http.post(LIST)
    assert_answers_soon(guarded)
    assert late.wait().status == 401
    late.stream.close()
    assert leftovers.until(lambda: connections(guarded) == 0)


def test_a_thousand_sessions_that_never_say_goodbye(server):
    keep = opened(server)
    first = opened(server)
    for _ in range(200):
        opened(server)
    before = resident(server)
    for _ in range(1000):
        opened(server)
        keep.post(PING).wait()
    assert keep.post(PING).wait().json() == PONG
    assert first.post(PING).wait().status == 404  # the longest idle had to go
    assert_answers_soon(server)
    keep.close()
    first.close()
    assert leftovers.until(lambda: connections(server) == 0)
    if not leftovers.sanitized():
        assert resident(server) - before < 8 * MIB


def large(count):
    """A call that is answered with COUNT bytes."""
    return call(1, "run_python", code=f"print('x' * {count})")


def read_nothing(server, http, message, fields):
    """A client that asks and does not read."""
    stream = socket.socket()
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stream.connect(server.address)
    data = json.dumps(message).encode()
    stream.sendall(http_peer.request("POST", "/mcp", {**http.post_fields(message), **fields}, data))
    return stream


def test_clients_that_never_read():
    config = {"limits": {"output": "1MiB"}}
    with client.Server(transport="http", config=config) as server:
        http = opened(server)
        streams = [read_nothing(server, http, large(900_000), {}) for _ in range(8)]
        streams += [read_nothing(server, server.http_peer(), modern(large(900_000)), {})
                    for _ in range(8)]
        assert_answers_soon(server)
        answer = http.post(call(9, "run_python", code="print(1)")).wait()
        assert answer.json()["result"]["content"][0]["text"]
        peak = resident(server)
        assert leftovers.sanitized() or peak < 128 * MIB
        for stream in streams:
            stream.close()
        assert_answers_soon(server)


def test_a_flood_of_early_requests_is_answered_in_order(server):
    http = server.http_peer()
    count = 2000

    def ask(i):
        message = {**LIST, "id": i}
        return http_peer.request("POST", "/mcp", http.post_fields(message),
                                 json.dumps(message).encode())

    stream = http.connect()
    sender = threading.Thread(target=stream.sendall, args=(b"".join(map(ask, range(count))),))
    sender.start()
    received = bytearray()
    while received.count(b"HTTP/1.1 200 OK") < count or not received.endswith(b"}}}}"):
        data = stream.recv(1 << 20)
        assert data, received[-300:]
        received += data
    sender.join()
    ids = re.findall(rb'"jsonrpc":"2.0","id":(\d+),', received)
    assert [int(i) for i in ids] == list(range(count))


def test_a_client_that_pipelines_without_reading(server):
    stream = socket.socket()
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stream.connect(server.address)
    stream.setblocking(False)
    http = server.http_peer()
    data = http_peer.request("POST", "/mcp", http.post_fields(LIST), json.dumps(LIST).encode())
    unsent = memoryview(data * 50_000)
    while select.select([], [stream], [], 0.5)[1]:
        unsent = unsent[stream.send(unsent[:65536]):]
    assert unsent  # it is not read from any more
    assert_answers_soon(server)
    assert leftovers.sanitized() or resident(server) < 64 * MIB
    stream.close()


def test_clients_that_vanish_in_the_middle(server):
    """At every byte of a request, and of an answer."""
    http = server.http_peer()
    data = http_peer.request("POST", "/mcp", http.post_fields(LIST), json.dumps(LIST).encode())
    for i in range(0, len(data), 7):
        stream = http.connect()
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        stream.sendall(data[:i])
        stream.close()
    for _ in range(50):
        http.post(LIST).close()
    assert_answers_soon(server)
    assert leftovers.until(lambda: connections(server) == 0)
