"""HTTP/1.1 on a real socket: where a request ends, what is refused, and what comes back then.

Each request that is refused is followed by a good one on the same connection. Whoever had read the
first one differently would find that one inside of it: it must not be answered.
"""

import json
import socket

import pytest

import client
import http_peer

HEAD = b"POST /mcp HTTP/1.1\r\n"
LIMIT = 4 * 1024 * 1024


@pytest.fixture(scope="module")
def server():
    with client.Server(transport="http") as server:
        yield server


@pytest.fixture
def stream(server):
    with connect(server) as stream:
        yield stream


def connect(server):
    return socket.create_connection(server.address, http_peer.TIMEOUT)


def fields(server):
    """What every request to the endpoint needs."""
    return (f"Host: {'%s:%d' % server.address}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n").encode()


def initialize(number=1):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}}).encode()


def sized(server, body):
    return HEAD + fields(server) + b"Content-Length: %d\r\n\r\n" % len(body) + body


def read_all(stream):
    """All there is until the server closes."""
    data = b""
    while piece := stream.recv(65536):
        data += piece
    return data


def read_response(stream, data=b""):
    """Status, body, and what follows them."""
    while b"\r\n\r\n" not in data:
        piece = stream.recv(65536)
        assert piece, f"closed behind {data!r}"
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    length = 0
    for line in lines:
        if line.startswith("content-length: "):
            length = int(line.split()[1])
    while len(rest) < length:
        piece = stream.recv(65536)
        assert piece, f"closed behind {rest!r}"
        rest += piece
    return int(lines[0].split()[1]), rest[:length], rest[length:]


SMUGGLED = {
    "length and coding": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "coding and length": b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}   ",
    "one length twice": b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "a list of lengths": b"Content-Length: 2, 2\r\n\r\n{}",
    "a signed length": b"Content-Length: +2\r\n\r\n{}",
    "a negative length": b"Content-Length: -2\r\n\r\n{}",
    "a length in two": b"Content-Length: 2 2\r\n\r\n{}",
    "a hexadecimal length": b"Content-Length: 0x2\r\n\r\n{}",
    "an enormous length": b"Content-Length: 18446744073709551618\r\n\r\n{}",
    "no length": b"Content-Length:\r\n\r\n{}",
    "a blank before the colon": b"Content-Length : 2\r\n\r\n{}",
    "coding in disguise": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "coding behind a control": b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "two codings": b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "coding twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "coding over two lines": b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a field over two lines": b"X: a\r\n\tb\r\nContent-Length: 2\r\n\r\n{}",
    "a bare CR in a value": b"X: \rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a bare LF in a value": b"X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a bare LF behind a field": b"Content-Length: 2\n\r\n{}",
    "LF only": b"Content-Length: 2\n\n{}",
    "CR only": b"Content-Length: 2\r\r{}",
    "a zero byte in a value": b"X: a\0b\r\nContent-Length: 2\r\n\r\n{}",
    "a zero byte in a name": b"X\0: a\r\nContent-Length: 2\r\n\r\n{}",
    "no name": b": a\r\nContent-Length: 2\r\n\r\n{}",
    "a name with a blank": b"X Y: a\r\nContent-Length: 2\r\n\r\n{}",
    "a line without a colon": b"X\r\nContent-Length: 2\r\n\r\n{}",
    "Host twice": b"Host: localhost\r\nContent-Length: 2\r\n\r\n{}",
    "a chunk size with a sign": b"Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n",
    "a chunk size with a blank": b"Transfer-Encoding: chunked\r\n\r\n2 \r\n{}\r\n0\r\n\r\n",
    "a chunk size of 17 digits": b"Transfer-Encoding: chunked\r\n\r\n00000000000000002\r\n{}\r\n0\r\n\r\n",
    "a chunk behind a bare LF": b"Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n",
    "a chunk that goes on": b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}}\r\n0\r\n\r\n",
    "a long chunk extension": b"Transfer-Encoding: chunked\r\n\r\n2;" + b"a" * 257 + b"\r\n{}\r\n0\r\n\r\n",
    "a length in the trailer": b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n",
}


@pytest.mark.parametrize("rest", SMUGGLED.values(), ids=SMUGGLED)
def test_a_request_that_can_be_read_in_two_ways_is_refused(server, stream, rest):
    stream.sendall(HEAD + fields(server) + rest + sized(server, initialize()))
    data = read_all(stream)
    status, body, left = read_response(stream, data)
    assert (status, left) == (400, b"")
    assert b"\r\nConnection: close\r\n" in data
    error = json.loads(body)
    assert error["jsonrpc"] == "2.0" and error["error"]["code"] == -32600 and "id" not in error


@pytest.mark.parametrize("start", [
    b"POST /mcp\r\n", b"POST  /mcp HTTP/1.1\r\n", b"POST /mcp HTTP/1.1 \r\n", b" POST /mcp HTTP/1.1\r\n",
    b"POST\t/mcp HTTP/1.1\r\n", b"\r\nPOST /mcp HTTP/1.1\r\n", b"POST http://localhost/mcp HTTP/1.1\r\n",
    b"POST /mcp#a HTTP/1.1\r\n", b"POST /mcp\x00 HTTP/1.1\r\n", b"\x16\x03\x01\x02\x00\x01",
])
def test_a_request_line_is_read_strictly(server, stream, start):
    stream.sendall(start + fields(server) + b"Content-Length: 0\r\n\r\n")
    assert read_response(stream)[0] == 400


@pytest.mark.parametrize("start, status", [
    (b"BREW /mcp HTTP/1.1\r\n", 501), (b"CONNECT localhost:80 HTTP/1.1\r\n", 501),
    (b"PRI * HTTP/2.0\r\n", 501), (b"POST /mcp HTTP/2.0\r\n", 505),
    (HEAD + b"X: " + b"x" * 16384 + b"\r\n", 431), (HEAD + b"X: x\r\n" * 64, 431),
    (HEAD + b"Expect: 100-continue, more\r\n", 417),
])
def test_what_is_not_served_is_told_from_what_is_malformed(server, stream, start, status):
    stream.sendall(start + fields(server) + b"Content-Length: 0\r\n\r\n")
    assert read_response(stream)[0] == status


def test_a_request_without_a_host_is_refused(stream):
    stream.sendall(HEAD + b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
    assert read_response(stream)[0] == 400


# Bodies


def long_version(length):
    """`initialize` of a client whose version makes it LENGTH bytes long."""
    return initialize().replace(b'"1"', b'"%s"' % (b"1" * (length - len(initialize()) + 1)))


@pytest.mark.parametrize("chunk", [None, 1000, 100000])
def test_a_body_may_be_of_exactly_the_limit(server, stream, chunk):
    for length, wanted in (LIMIT, 200), (LIMIT + 1, 413):
        body = long_version(length)
        if chunk:
            pieces = [body[i:i + chunk] for i in range(0, length, chunk)]
            request = HEAD + fields(server) + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(
                b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        else:
            request = sized(server, body)
        if wanted == 413 and not chunk:
            request = request[:1000]  # its length is said at once; no more of it is waited for
        stream.sendall(request)
        status, answer, rest = read_response(stream)
        assert (status, rest) == (wanted, b"")
        assert ("error" in json.loads(answer)) == (wanted != 200)
    assert read_all(stream) == b""


def test_a_body_that_is_too_large_is_not_asked_for(server, stream):
    head = HEAD + fields(server) + b"Expect: 100-continue\r\n"
    body = initialize()
    stream.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body))
    assert read_response(stream) == (100, b"", b"")
    stream.sendall(body)
    assert read_response(stream)[0] == 200
    stream.sendall(head + b"Content-Length: %d\r\n\r\n" % (LIMIT + 1))
    assert read_response(stream)[0] == 413
    assert read_all(stream) == b""


def test_the_answer_to_a_large_body_is_not_lost(server, stream):
    """Sent before the body, and all of the body comes all the same."""
    stream.sendall(HEAD + fields(server) + b"Content-Length: 900000000\r\n\r\n" + b"x" * 900000)
    status, answer, rest = read_response(stream)
    assert (status, rest) == (413, b"")
    assert json.loads(answer)["error"]["code"] == -32600
    assert read_all(stream) == b""


# Connections


def test_requests_that_come_early_are_answered_in_order(server, stream):
    count = 50
    stream.sendall(b"".join(sized(server, initialize(i)) for i in range(count)))
    rest = b""
    for i in range(count):
        status, body, rest = read_response(stream, rest)
        assert (status, json.loads(body)["id"]) == (200, i)


def test_an_upgrade_is_not_taken(server, stream):
    body = initialize()
    stream.sendall(HEAD + fields(server) + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                   b"HTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    assert read_response(stream)[0] == 200
    stream.sendall(sized(server, body))
    assert read_response(stream)[0] == 200


@pytest.mark.parametrize("start, line", [(b"POST /mcp HTTP/1.0\r\n", b"Connection: keep-alive\r\n"),
                                         (HEAD, b"Connection: close\r\n")])
def test_a_connection_that_is_not_kept_ends_behind_the_response(server, stream, start, line):
    body = initialize()
    stream.sendall(start + fields(server) + line + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    data = read_all(stream)
    assert read_response(stream, data)[0] == 200 and b"\r\nConnection: close\r\n" in data
