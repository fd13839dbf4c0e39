"""The Python package over HTTP where the server is far away: connections break off, and sessions end."""

import contextlib
import http.server
import json
import os
import socket
import threading
import time

import pytest

import python_package

import pyexecd

WAIT_SECONDS = 120
RESULT = {"content": [{"type": "text", "text": "the answer"}], "isError": False}


class Far(http.server.BaseHTTPRequestHandler):
    """Breaks off the stream of every call behind its first event; the rest comes to a GET for it."""

    protocol_version = "HTTP/1.1"
    seen = None  # of this server: methods and what they came with
    waiting = None  # ids of requests by the event that was sent
    begun = ended = None  # of a stream that goes on until the client ends it
    left = None  # set when a session is to end
    leaving = None  # what a session's end waits for, if anything

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((message["method"], self.headers["Mcp-Session-Id"], self.headers["Authorization"]))
        if message["method"] == "initialize":
            self.answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "far", "version": "1"}}})
        elif "id" not in message:
            self.answer(202, None)
        elif message["params"]["name"] == "never ends":
            self.events("id: event-1\ndata:\n\n")
            self.begun.set()
            self.rfile.read(1)
            self.ended.set()
        elif message["params"]["name"] == "unknown session":
            self.answer(404, {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "no such session"}})
        else:
            self.waiting["event-1"] = message["id"]
            self.events("id: event-1\ndata:\n\n")

    def do_GET(self):
        last = self.headers["Last-Event-ID"]
        self.seen.append(("GET", self.headers["Mcp-Session-Id"], last))
        answer = {"jsonrpc": "2.0", "id": self.waiting[last], "result": RESULT}
        self.events(f": a comment\r\n\r\nid: event-2\r\nevent: message\r\ndata: {json.dumps(answer)}\r\n\r\n")

    def do_DELETE(self):
        self.seen.append(("DELETE", self.headers["Mcp-Session-Id"], None))
        self.left.set()
        if self.leaving:
            self.leaving.wait(WAIT_SECONDS)
        self.answer(204, None)

    def answer(self, status, message):
        body = json.dumps(message).encode() if message else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Mcp-Session-Id", "session-1")
        self.end_headers()
        self.wfile.write(body)

    def events(self, text):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text.encode())
        self.close_connection = True

    def log_message(self, *_):
        """Quiet."""


class UnixServer(http.server.ThreadingHTTPServer):
    address_family = socket.AF_UNIX

    def server_bind(self):
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "localhost", 0

    def get_request(self):
        request, _ = super().get_request()
        return request, ("unix", 0)


def handler_class(**more):
    return type("Handler", (Far,), {"seen": [], "waiting": {}, "begun": threading.Event(), "ended": threading.Event(),
                                    "left": threading.Event(), **more})


@contextlib.contextmanager
def served(server):
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def far_server():
    handler = handler_class()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with served(server):
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp", handler.seen


def test_an_answer_that_breaks_off_is_taken_up_again():
    with far_server() as (url, seen):
        with pyexecd.Client(url=url, token="secret") as client:
            assert client.call_tool("anything").text == "the answer"
    assert ("initialize", None, "Bearer secret") in seen
    assert ("tools/call", "session-1", "Bearer secret") in seen
    assert ("GET", "session-1", "event-1") in seen
    assert seen[-1] == ("DELETE", "session-1", None)


def test_a_url_without_a_server_is_told():
    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_error(404)

        def log_message(self, *_):
            """Quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    url = f"http://127.0.0.1:{server.server_address[1]}/nope"
    with served(server), pytest.raises(pyexecd.ConnectionLost, match=f"^there is no MCP server at {url}: Not Found$"):
        pyexecd.Client(url=url).call_tool("anything")


def test_a_session_that_the_server_has_forgotten_is_lost():
    with far_server() as (url, _), pyexecd.Client(url=url) as client:
        with pytest.raises(pyexecd.ConnectionLost, match="no such session"):
            client.call_tool("unknown session")


def test_a_session_is_ended_at_the_end_of_the_program(tmp_path):
    with far_server() as (url, seen):
        done = python_package.program(
            tmp_path, f"import pyexecd\nclient = pyexecd.Client(url={url!r})\nprint(client.call_tool('a').text)")
        assert done.stdout == "the answer\n" and done.stderr == "", done
        assert seen[-1] == ("DELETE", "session-1", None)


def test_closing_a_client_ends_a_stream_whose_connection_was_to_close_anyway():
    """Such a connection has no socket any more that http.client knows of."""
    handler = handler_class()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with served(server):
        client = pyexecd.Client(url=f"http://127.0.0.1:{server.server_address[1]}/mcp")
        failed = []

        def call():
            try:
                client.call_tool("never ends")
            except pyexecd.ConnectionLost as error:
                failed.append(str(error))

        thread = threading.Thread(target=call)
        thread.start()
        assert handler.begun.wait(WAIT_SECONDS)
        client.close()
        thread.join(WAIT_SECONDS)
        assert handler.ended.wait(WAIT_SECONDS)
    assert failed == ["the client is closed"]


def sockets():
    """The descriptors of this process that are sockets."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                found.add(name)
    return found


def test_a_closed_client_has_no_connection(tmp_path):
    before = sockets()
    with python_package.reached("http", tmp_path) as arguments:
        client = pyexecd.Client(**arguments)
        client.run_python("print(1)")
        client.close()
        deadline = time.monotonic() + WAIT_SECONDS
        while sockets() - before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not sockets() - before


def test_closing_does_not_wait_long_for_a_server_over_a_unix_socket(tmp_path, monkeypatch):
    monkeypatch.setattr(pyexecd.web, "CLOSE_SECONDS", 0.5)
    handler = handler_class(leaving=threading.Event())
    path = str(tmp_path / "socket")
    with served(UnixServer(path, handler)):
        client = pyexecd.Client(url=f"unix://{path}#/mcp")
        in_the_end = threading.Timer(WAIT_SECONDS / 4, handler.leaving.set)
        in_the_end.start()
        client.close()
        assert not handler.leaving.is_set()
        assert handler.left.wait(WAIT_SECONDS)  # a busy server takes it up later than that
        in_the_end.cancel()
        handler.leaving.set()
