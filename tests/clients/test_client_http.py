"""The Python package over HTTP where the server is far away: connections break off, and sessions end."""

import contextlib
import http.server
import json
import threading

import pytest

import python_package

import pyexecd

RESULT = {"content": [{"type": "text", "text": "the answer"}], "isError": False}


class Far(http.server.BaseHTTPRequestHandler):
    """Breaks off the stream of every call behind its first event; the rest comes to a GET for it."""

    protocol_version = "HTTP/1.1"
    seen = None  # of this server: methods and what they came with
    waiting = None  # ids of requests by the event that was sent

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((message["method"], self.headers["Mcp-Session-Id"], self.headers["Authorization"]))
        if message["method"] == "initialize":
            self.answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "far", "version": "1"}}})
        elif "id" not in message:
            self.answer(202, None)
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


@contextlib.contextmanager
def far_server():
    handler = type("Handler", (Far,), {"seen": [], "waiting": {}})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp", handler.seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_answer_that_breaks_off_is_taken_up_again():
    with far_server() as (url, seen):
        with pyexecd.Client(url=url, token="secret") as client:
            assert client.call_tool("anything").text == "the answer"
    assert ("initialize", None, "Bearer secret") in seen
    assert ("tools/call", "session-1", "Bearer secret") in seen
    assert ("GET", "session-1", "event-1") in seen
    assert seen[-1] == ("DELETE", "session-1", None)


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
