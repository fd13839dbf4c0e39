"""An MCP server that does what servers must not: each tool is one fault, named like it.

usage: fake_server.py REVISION [http PORT_FILE]    standard input and output; or a port of its own, which it writes down,
                                                   until its input ends

It keeps a line for each message that it is given in the file $SEEN, where that is set. Where there is no file $BEGUN, it
makes it, does not list its tools, and takes its time to end. Over HTTP it answers when the file
$HELD_BY is gone.
"""

import atexit
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time

MODERN = "2026-07-28"
NAMES = ["echo", "die", "hang", "huge", "long_line", "chatter", "refuse", "ask", "again", "change", "children", "env",
         "progress", "redirect", "cut", "dribble", "many", "nothing", "denied_one", "late", "not_json", "sessionless",
         "pings", "say_and_die", "number", "not_a_number", "bad_escape", "log", "wide"]
WIDE = ["short text"] * 90000  # more than 1 MiB of it
changed = False
out = threading.Lock()
session = 0
has_expired = False
held = []  # answers of the client that are not taken


def tool(name):
    return {"name": name, "description": f"Does {name}. More of it\u202e.", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": name == "echo"}}


def listed(cursor):
    """Two pages; with $PAGES, without an end; with $WIDE, one that is too large."""
    names = NAMES + (["new"] if changed else [])
    if os.environ.get("WIDE"):
        return {"tools": [{**tool("echo"), "inputSchema": {"type": "object", "enum": WIDE}}]}
    if os.environ.get("PAGES"):
        return {"tools": [tool(f"t{cursor or 0}")], "nextCursor": str(int(cursor or 0) + 1)}
    if not cursor:
        return {"tools": [tool(name) for name in names[:5]], "nextCursor": "second"}
    assert cursor == "second"
    return {"tools": [tool(name) for name in names[5:]] + [{"name": "bad name"}, tool("echo"), 5]}


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def note(message):
    if seen := os.environ.get("SEEN"):
        with open(seen, "a", encoding="utf-8") as file:
            file.write(json.dumps(message) + "\n")


def act(name, arguments, params, send):
    """The result of a tool; None: there is none."""
    global changed
    if name == "say_and_die":
        sys.stderr.write("x" * arguments["before"] + os.environ["TOKEN"] + "\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "wide":
        return text("", structuredContent={"n": WIDE})
    if name == "not_a_number":
        return text("", structuredContent={"n": float("nan")})
    if name == "number":
        return text("", structuredContent={"n": int(arguments["digits"])} if "digits" in arguments else arguments)
    if name == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "hang":
        time.sleep(1000)
    if name == "late":
        time.sleep(0.3)
    if name == "huge":
        return text("x" * (int(arguments.get("mebibytes", 7)) << 20))
    if name == "ask":
        send({"jsonrpc": "2.0", "id": "s1", "method": "sampling/createMessage", "params": {}})
        send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
    if name == "change":
        changed = True
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    if name == "children":
        child = subprocess.Popen(["sleep", arguments.get("seconds", "1000")], start_new_session=True)
        return text(str(child.pid))
    if name == "env":
        return text(json.dumps(dict(os.environ)), structuredContent=dict(os.environ))
    if name == "progress":
        token = params["_meta"]["progressToken"]
        for step in (1, 2):
            send({"jsonrpc": "2.0", "method": "notifications/progress",
                  "params": {"progressToken": token, "progress": step, "message": f"step {step}"}})
    if name == "again" and "requestState" not in params:
        return {"resultType": "input_required", "requestState": "mine"}
    if name == "again":
        return text(params["requestState"])
    if name == "many":
        return {"resultType": "input_required", "inputRequests": {"a": {"method": "elicitation/create"}}}
    return text(json.dumps({"arguments": arguments, "session": session}))


def write(message):
    with out:
        sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
        sys.stdout.flush()


def answer(revision, message, send):
    method, params = message.get("method"), message.get("params", {})
    response = {"jsonrpc": "2.0", "id": message.get("id")}
    if method == "initialize" and revision != MODERN:
        response["result"] = {"protocolVersion": revision, "capabilities": {"tools": {"listChanged": True}},
                              "serverInfo": {"name": "fake", "version": "1"}}
    elif method == "server/discover" and os.environ.pop("SLOW", None):
        time.sleep(4)
        response["result"] = {"supportedVersions": [MODERN], "capabilities": {}}
    elif method == "server/discover" and revision == MODERN:
        response["result"] = {"supportedVersions": [MODERN], "capabilities": {"tools": {"listChanged": True}}}
    elif method == "server/discover" and os.environ.get("SILENT"):
        return None
    elif method == "tools/list" and not os.path.exists(os.environ.get("BEGUN", "/")):
        open(os.environ["BEGUN"], "w", encoding="utf-8").close()
        atexit.register(time.sleep, 0.2)
        response["error"] = {"code": -32603, "message": "not yet"}
    elif method == "tools/list":
        response["result"] = listed(params.get("cursor"))
    elif method == "subscriptions/listen":
        return None
    elif method == "tools/call" and params["name"] == "refuse":
        response["error"] = {"code": -32602, "message": "no: " + " " * params.get("arguments", {}).get("before", 0) +
                             os.environ.get("TOKEN", "")}
    elif method == "tools/call" and params["name"] == "nothing":
        response["result"] = 5
    elif method == "tools/call":
        response["result"] = act(params["name"], params.get("arguments", {}), params, send)
    else:
        response["error"] = {"code": -32601, "message": "Method not found"}
    return response


def without_end(name):
    """The faults of a stream of lines."""
    if name == "long_line":
        while True:
            sys.stdout.write("x" * 65536)
    if name == "chatter":
        for _ in range(1000):
            sys.stdout.write("Welcome!\n\n{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}\n[1]\nnull\n")
        sys.stdout.flush()
    if name == "log":
        for number in range(100):
            sys.stdout.write('DEBUG sends {"jsonrpc":"2.0","id":%d,"result":{}}\n{\'id\': 1}\n' % number)
        sys.stdout.flush()
    if name == "not_json":
        sys.stdout.write('{"jsonrpc":"2.0","id":\n')
        sys.stdout.flush()


def serve_lines(revision):
    print("fake server starts", file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        note(message)
        if "id" not in message or "method" not in message:
            continue
        name = message.get("params", {}).get("name", "")
        without_end(name)
        if name == "bad_escape":
            sys.stdout.write('{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"it\\\'s no file"}}\n' % message["id"])
            sys.stdout.flush()
            continue

        def handle(message=message):
            if (response := answer(revision, message, write)) is not None:
                write(response)

        if name in ("hang", "late"):
            threading.Thread(target=handle, daemon=True).start()
        else:
            handle()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    revision = MODERN

    def log_message(self, *_):
        pass

    def whole(self, status, body=b"", **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, message, number=None):
        self.wfile.write((f"id: {number}\n" if number else "").encode() +
                         f"event: message\r\ndata: {json.dumps(message)}\n\n".encode())
        self.wfile.flush()

    def do_GET(self):
        last = self.headers.get("Last-Event-ID")
        note({"GET": last, "count": len(self.headers.get_all("Last-Event-ID", []))})
        if os.environ.get("NEWS") and not (last or "").isdigit():
            self.stream()
            self.wfile.write(b"retry: 0\nid: news\ndata: {}\n\n")
            return
        if not last:
            self.whole(405)
            return
        self.stream()
        self.event({"jsonrpc": "2.0", "id": int(last), "result": text("the rest")}, last)

    def do_DELETE(self):
        note({"DELETE": self.headers.get("Mcp-Session-Id")})
        self.whole(200)

    def fault(self, name, message):
        """True: the answer was a fault of HTTP."""
        global has_expired
        if name == "redirect":
            self.whole(307, Location="http://127.0.0.1:1/elsewhere")
        elif name == "refuse":
            self.whole(401, b"no", Content_Type="text/plain")
        elif name == "cut":
            self.stream()
            self.wfile.write(f"retry: 10\nid: {message['id']}\ndata:\n\n".encode())
        elif name == "dribble":
            self.stream()
            while True:
                self.wfile.write(b"data: " + b"x" * 65536 + b"\n")
        elif name == "sessionless" and session and not has_expired:
            has_expired = True
            self.whole(404, b"{}", Content_Type="application/json")
        else:
            return False
        return True

    def ask_often(self, message):
        """The result says how many answers came at the same time; none of them is taken."""
        self.stream()
        for number in range(100):
            self.event({"jsonrpc": "2.0", "id": 1000 + number, "method": "ping"})
        time.sleep(1)
        self.event({"jsonrpc": "2.0", "id": message["id"], "result": text("", structuredContent={"held": len(held)})})

    def do_POST(self):
        global session
        while os.path.exists(os.environ.get("HELD_BY", "")):
            time.sleep(0.05)
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        note({"fields": dict(self.headers), **message})
        name = message.get("params", {}).get("name", "")
        if self.fault(name, message):
            return
        if name == "pings":
            self.ask_often(message)
            return
        if "method" not in message and message["id"] >= 1000:
            held.append(self)
            self.rfile.read()
            held.remove(self)
            return
        if "id" not in message or "method" not in message:
            self.whole(202)
            return
        fields = {}
        if message["method"] == "initialize" and self.revision != MODERN:
            session += 1
            fields["Mcp-Session-Id"] = f"session-{session}"
        if name in ("progress", "ask", "change", "late"):
            self.stream()
            self.event(answer(self.revision, message, self.event))
            return
        response = answer(self.revision, message, lambda message: None)
        if response is None:
            self.stream()
            time.sleep(1000)
            return
        self.whole(200, json.dumps(response).encode(), Content_Type="application/json", **fields)


def serve_http(revision, port_file):
    Handler.revision = revision
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # clients leave
    with open(port_file + ".new", "w", encoding="utf-8") as file:
        file.write(str(server.server_address[1]))
    os.rename(port_file + ".new", port_file)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    server.serve_forever()


if len(sys.argv) > 2:
    serve_http(sys.argv[1], sys.argv[3])
else:
    serve_lines(sys.argv[1])
