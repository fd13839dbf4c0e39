"""A client of any revision over any transport, for asking a server what it can do.

`Peer` keeps everything that the server sends, and answers what the server asks. A line peer is one
connection; an HTTP peer is one session, or nothing but an address for requests that stand alone.
"""

import contextlib
import http.client
import json
import threading
import time
import urllib.parse

MODERN = "2026-07-28"
P = "io.modelcontextprotocol/"
TASKS = f"{P}tasks"
CLIENT = {"name": "peer", "version": "1"}
CAPABILITIES = {"elicitation": {}, "sampling": {}, "roots": {}}
ANSWERS = {
    "ping": {},
    "roots/list": {"roots": [{"uri": "file:///srv", "name": "srv"}]},
    "elicitation/create": {"action": "accept", "content": {"name": "Ada", "username": "ada",
                                                            "email": "ada@example.org"}},
    "sampling/createMessage": {"role": "assistant", "model": "none",
                               "content": {"type": "text", "text": "Paris"}},
}
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
            "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"}
PATIENCE = 60


class Peer:
    """What every transport has."""

    def __init__(self, revision):
        self.revision = revision
        self.received = []
        self.arrival = threading.Condition()
        self.last_id = 0
        self.under_way = None  # over HTTP: the exchange of the last request

    def deliver(self, message):
        with self.arrival:
            self.received.append(message)
            self.arrival.notify_all()
        if isinstance(message, dict) and "method" in message and "id" in message:
            self.send({"id": message["id"], "result": ANSWERS[message["method"]]})

    def wait(self, predicate, seconds=PATIENCE):
        """The first message that PREDICATE is true of; None when none comes in time."""
        deadline = time.monotonic() + seconds
        with self.arrival:
            while True:
                for message in self.received:
                    if predicate(message):
                        return message
                if not self.arrival.wait(deadline - time.monotonic()):
                    return None

    def hears(self, method, seconds=PATIENCE):
        """Whether the server has sent METHOD, or does so in time."""
        return self.wait(lambda message: message.get("method") == method, seconds) is not None

    def envelope(self):
        """What a request says about itself, where it has to."""
        if self.revision != MODERN:
            return {}
        return {f"{P}protocolVersion": MODERN, f"{P}clientInfo": CLIENT,
                f"{P}clientCapabilities": {**CAPABILITIES, "extensions": {TASKS: {}}}}

    def start(self, method, params=None, **meta):
        """Sends a request; its id."""
        self.last_id += 1
        params = dict(params or {})
        meta = {**self.envelope(), **meta}
        if meta:
            params["_meta"] = meta
        self.under_way = self.send({"id": self.last_id, "method": method, "params": params})
        return self.last_id

    def request(self, method, params=None, **meta):
        """The response to a request: {"result": ...} or {"error": ...}."""
        number = self.start(method, params, **meta)
        response = self.wait(lambda message: message.get("id") == number and "method" not in message)
        assert response, f"{method} is not answered"
        return response

    def call(self, tool, arguments=None, **more):
        return self.request("tools/call", {"name": tool, "arguments": arguments or {}}, **more)

    def initialize(self):
        response = self.request("initialize", {"protocolVersion": self.revision,
                                               "capabilities": CAPABILITIES, "clientInfo": CLIENT})
        self.send({"method": "notifications/initialized"})
        return response.get("result")


class LinePeer(Peer):
    """Over a stream of lines: READ and WRITE are files."""

    def __init__(self, revision, read, write):
        super().__init__(revision)
        self.write = write
        self.reader = threading.Thread(target=self.read_lines, args=(read,))
        self.reader.start()

    def read_lines(self, read):
        with contextlib.suppress(ConnectionResetError):
            for line in read:
                self.deliver(json.loads(line))

    def send(self, message):
        text = json.dumps(message if isinstance(message, list) else {"jsonrpc": "2.0", **message})
        self.write.write(text.encode() + b"\n")
        self.write.flush()


class HttpPeer(Peer):
    """Over HTTP. Every message has a connection of its own, on which its answer comes."""

    def __init__(self, revision, url):
        super().__init__(revision)
        self.url = urllib.parse.urlsplit(url)
        self.session = None
        self.events = []  # ids of the events so far
        self.listening = threading.Event()

    def fields(self, message):
        fields = {"Content-Type": "application/json",
                  "Accept": "application/json, text/event-stream"}
        message = {} if isinstance(message, list) else message
        method, params = message.get("method", ""), message.get("params", {})
        if self.revision == MODERN:
            fields |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
            if method in NAMED_BY:
                fields["Mcp-Name"] = params[NAMED_BY[method]]
        if self.session:
            fields["Mcp-Session-Id"] = self.session
            fields["MCP-Protocol-Version"] = self.revision
        return fields

    def exchange(self, method, body=None, fields=None):
        """One request and its response, as long as it lasts; the status."""
        fields = self.fields({}) if fields is None else fields
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=PATIENCE)
        connection.request(method, self.url.path, body, fields)
        response = connection.getresponse()
        if method == "GET":
            self.listening.set()
        self.session = response.headers.get("Mcp-Session-Id", self.session)
        if response.headers.get("Content-Type", "").startswith("text/event-stream"):
            self.read_events(response)
        elif text := response.read():
            self.deliver(json.loads(text))
        return response.status

    def read_events(self, response):
        data = ""
        for line in response:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "id":
                self.events.append(value)
            elif name == "data":
                data += value
            elif not name and data:
                self.deliver(json.loads(data))
                data = ""

    def send(self, message):
        text = json.dumps(message if isinstance(message, list) else {"jsonrpc": "2.0", **message})
        return self.in_background("POST", text, self.fields(message))

    def listen(self, **fields):
        """Opens the stream for what is no part of an answer, or the rest of another one."""
        return self.in_background("GET", None, {**self.fields({}), "Accept": "text/event-stream",
                                                **fields})

    def in_background(self, *request):
        def exchange():
            # What the end of the server cuts off is not asked for any more.
            with contextlib.suppress(OSError, http.client.HTTPException):
                self.exchange(*request)

        thread = threading.Thread(target=exchange, daemon=True)
        thread.start()
        return thread
