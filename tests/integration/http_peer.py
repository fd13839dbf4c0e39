"""A strict HTTP/1.1 client for tests, and on top of it a peer that speaks MCP over it.

    exchange = http_peer.Exchange(stream, http_peer.request("POST", "/mcp", fields, body))
    exchange.wait()                                  # until the response is complete
    exchange.status, exchange.fields, exchange.body, exchange.events

Every request has a connection of its own, so that answers may come in any order. Whatever is not
as HTTP, `text/event-stream` and MCP want it is an AssertionError.
"""

import json
import select
import socket
import time

import wire

TIMEOUT = 60
VERSION_KEY = wire.VERSION_KEY
SENT_SECONDS = 0.05  # in which most requests are answered

NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
         "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"}


def request(method, path, fields=(), body=None):
    """The bytes of a request. FIELDS: pairs, or a dict."""
    pairs = list(fields.items() if isinstance(fields, dict) else fields)
    if body is not None:
        pairs.append(("Content-Length", str(len(body))))
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in pairs)]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


class Event:
    """One event of a stream."""

    def __init__(self, text):
        self.id = self.event = self.retry = None
        data = []
        for line in text.split("\n"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                data.append(value)
            elif name in ("id", "event", "retry"):
                assert getattr(self, name) is None, f"{name} twice: {text!r}"
                setattr(self, name, value)
            else:
                raise AssertionError(f"unknown field: {text!r}")
        self.has_data = bool(data)
        self.data = "\n".join(data)

    def message(self):
        """The message in it; None in an event that only brings an id."""
        if not self.data:
            assert self.has_data and self.id and self.event is None
            return None
        assert self.event == "message", f"{self.event}: {self.data[:200]}"
        return json.loads(self.data)


class Exchange:
    """One request on a connection of its own, and what has come back so far."""

    def __init__(self, stream, data):
        self.stream = stream
        self.status = None
        self.fields = {}
        self.body = b""
        self.events = []
        self.comments = 0
        self.complete = False
        self.closed = False  # by the server, before the response was complete
        self.taken = 0  # messages handed out
        self._raw = b""  # not parsed yet
        self._text = b""  # of events that are not whole
        stream.setblocking(True)
        stream.settimeout(TIMEOUT)
        try:
            stream.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all of it was read
        stream.setblocking(False)

    def fileno(self):
        return self.stream.fileno()

    def close(self):
        """The client goes away."""
        self.stream.close()
        self.complete = True

    @property
    def is_stream(self):
        return self.fields.get("content-type", "").startswith("text/event-stream")

    # In

    def read_some(self):
        try:
            data = self.stream.recv(1 << 20)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        self._raw += data
        if self.status is None:
            self._parse_head()
        if self.status is not None and not self.complete:
            self._parse_body(ended=not data)
        if not data and not self.complete:
            self.closed = self.complete = True

    def _parse_head(self):
        head, end, rest = self._raw.partition(b"\r\n\r\n")
        if not end:
            return
        self._raw = rest
        first, *lines = head.decode("ascii").split("\r\n")
        version, status, _ = first.split(" ", 2)
        assert version == "HTTP/1.1", first
        for line in lines:
            name, _, value = line.partition(": ")
            assert name and value == value.strip(), line
            assert name.lower() not in self.fields, f"{name} twice"
            self.fields[name.lower()] = value
        if status == "100":
            self.fields = {}
            self._parse_head()
            return
        self.status = int(status)

    def _parse_body(self, ended):
        if self.fields.get("transfer-encoding") == "chunked":
            while (chunk := self._next_chunk()) is not None:
                self._add(chunk)
                if not chunk:
                    self.complete = True
                    return
        elif "content-length" in self.fields:
            length = int(self.fields["content-length"])
            self.body = self._raw[:length]
            self.complete = len(self.body) == length
        elif self.status in (202, 204) or self.status < 200:
            self.complete = True
        else:
            self._add(self._raw)
            self._raw = b""
            self.complete = ended

    def _next_chunk(self):
        line, end, rest = self._raw.partition(b"\r\n")
        if not end:
            return None
        size = int(line, 16)
        if len(rest) < size + 2:
            return None
        assert rest[size:size + 2] == b"\r\n"
        self._raw = rest[size + 2:]
        return rest[:size]

    def _add(self, data):
        self.body += data
        if not self.is_stream:
            return
        self._text += data
        while (end := self._text.find(b"\n\n")) >= 0:
            text = self._text[:end].decode("utf-8", "strict")
            self._text = self._text[end + 2:]
            if text.startswith(":"):
                self.comments += 1
            else:
                self.events.append(Event(text))

    def wait(self, until=None, timeout=TIMEOUT):
        """Reads until the response is complete or UNTIL() is true; returns self."""
        deadline = time.monotonic() + timeout
        while not (self.complete or until and until()):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self], [], [], left)[0]:
                raise TimeoutError(f"no complete response in {timeout} s; so far: {self.status} "
                                   f"{self.body[:200]!r}")
            self.read_some()
        return self

    def wait_events(self, count, timeout=TIMEOUT):
        """Waits until COUNT events are there."""
        self.wait(lambda: len(self.events) >= count, timeout)
        assert len(self.events) >= count, f"the stream ended: {self.body[:500]!r}"
        return self.events[:count]

    # What is in it

    def json(self):
        assert self.complete and not self.closed, f"{self.status} {self.body[:200]!r}"
        assert self.fields.get("content-type") == "application/json", self.fields
        return json.loads(self.body)

    def messages(self):
        """All messages that are there."""
        if self.is_stream:
            messages = [event.message() for event in self.events]
            return [message for message in messages if message is not None]
        return [self.json()] if self.complete and self.body else []

    def take(self):
        """The next message that was not taken yet, or None."""
        messages = self.messages()
        if self.taken == len(messages):
            return None
        self.taken += 1
        return messages[self.taken - 1]


def encode(value):
    """VALUE as that of a field."""
    import base64
    plain = all(0x20 <= ord(c) < 0x7f or c == "\t" for c in value) and value == value.strip() \
        and not value.startswith("=?base64?")
    if plain:
        return value
    return "=?base64?" + base64.b64encode(value.encode("utf-8", "replace")).decode() + "?="


class Peer:
    """A client of one MCP endpoint. CONNECT makes a connected socket, HOST is what it is called."""

    def __init__(self, connect, host, path="/mcp", token=None):
        self.connect = connect
        self.further = {}  # fields of every request
        self.host = host
        self.path = path
        self.token = token
        self.session = None  # id
        self.version = None  # negotiated, or the modern one
        self.stream = None  # of what belongs to no request
        self.exchanges = []  # that are not complete, or have messages that were not taken

    # Requests

    def common_fields(self):
        fields = {"Host": self.host, **self.further}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        return fields

    def session_fields(self):
        """Those of a request in the session."""
        fields = self.common_fields()
        if self.session:
            fields["Mcp-Session-Id"] = self.session
        if self.version and self.version >= "2025-06-18":  # the modern one has no session
            fields["MCP-Protocol-Version"] = self.version
        return fields

    def post_fields(self, message):
        """Those of a POST of MESSAGE; anything that is not sent on purpose is as it should be."""
        claimed = claimed_version(message)
        fields = self.common_fields() if claimed is not None else self.session_fields()
        fields["Content-Type"] = "application/json"
        fields["Accept"] = "application/json, text/event-stream"
        if claimed is not None:
            fields.update(_modern_fields(message, claimed))
        return fields

    def start(self, method, fields, body=None):
        return Exchange(self.connect(), request(method, self.path, fields, body))

    def post(self, body, fields=None):
        """Sends BODY (bytes, or a message) and returns the exchange."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            message = None
        return self.start("POST", {**self.post_fields(message), **(fields or {})}, data)

    def get(self, **fields):
        """A stream of what belongs to no request; last_event_id=... : of what followed that."""
        more = {name.replace("_", "-"): value for name, value in fields.items()}
        return self.start("GET", {**self.session_fields(), "Accept": "text/event-stream", **more})

    def delete(self):
        return self.start("DELETE", self.session_fields()).wait()

    # As a connection (client.Connection)

    def send(self, data):
        """POSTs DATA; it has been read when this returns."""
        exchange = self.post(data)
        self.exchanges.append(exchange)
        try:
            exchange.wait(lambda: exchange.status is not None, SENT_SECONDS)
        except TimeoutError:
            self._wait_until_read()
            return
        self._note_session(exchange)

    def _wait_until_read(self):
        """What is answered now was read after, or in one turn with, all that was sent before it."""
        Exchange(self.connect(), request("GET", "/nothing-is-here", self.common_fields())).wait().close()

    def _note_session(self, exchange):
        if "mcp-session-id" in exchange.fields:
            assert exchange.status == 200
            self.session = exchange.fields["mcp-session-id"]
            assert all(0x21 <= ord(c) <= 0x7e for c in self.session) and len(self.session) >= 32

    def listen(self):
        """Receives what belongs to no request, too."""
        exchange = self.get()
        exchange.wait(lambda: exchange.status is not None)
        assert exchange.status == 200 and exchange.is_stream
        self.stream = exchange
        self.exchanges.append(exchange)

    def receive(self, timeout):
        """The next message on any connection."""
        deadline = time.monotonic() + timeout
        while True:
            for exchange in list(self.exchanges):
                self._note_session(exchange)
                message = exchange.take()
                if message is not None:
                    return message
                if exchange.complete:
                    self.exchanges.remove(exchange)
                    exchange.stream.close()
            self._read_some(max(0, deadline - time.monotonic()), timeout)

    def _read_some(self, seconds, timeout):
        ready = select.select(self.exchanges, [], [], seconds)[0]
        if not ready:
            raise TimeoutError(f"no message in {timeout} s")
        for exchange in ready:
            exchange.read_some()

    def close(self):
        for exchange in self.exchanges:
            exchange.close()
        self.exchanges = []


def claimed_version(message):
    params = message.get("params") if isinstance(message, dict) and "id" in message else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get(VERSION_KEY, None) if isinstance(meta, dict) else None


def _modern_fields(message, claimed):
    method = message.get("method")
    fields = {"MCP-Protocol-Version": encode(str(claimed))}
    if isinstance(method, str):
        fields["Mcp-Method"] = encode(method)
    name = message["params"].get(NAMES.get(method))
    if isinstance(name, str):
        fields["Mcp-Name"] = encode(name)
    return fields


def tcp(address):
    """Makes connections to ADDRESS."""
    def connect():
        stream = socket.create_connection(address, TIMEOUT)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return stream
    return connect


def unix(path):
    def connect():
        stream = socket.socket(socket.AF_UNIX)
        stream.settimeout(TIMEOUT)
        stream.connect(path)
        return stream
    return connect
