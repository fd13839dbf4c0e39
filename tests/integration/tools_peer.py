"""A small MCP server on one end of a socket, in plain Python, for tests of the module `tools`; and scripts at the other end."""

import base64
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

MODULE = pathlib.Path(__file__).parents[2] / "base/starter/tools.py"
LOADER = """
import os, sys, types
module = sys.modules["tools"] = types.ModuleType("tools")
module._descriptor = int(sys.argv[1])
with open({path!r}) as file:
    exec(compile(file.read(), "tools.py", "exec"), vars(module))
"""
PICTURE = bytes(range(256))
TEXT = {"type": "string"}


def tool(name, properties=None, **more):
    schema = {"type": "object", "properties": properties or {}, **more.pop("schema", {})}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema, **more}


TOOLS = [
    tool("github.search_issues", {"query": {**TEXT, "description": "what to look for"},
                                  "per_page": {"type": "integer", "default": 30}, "order": {"enum": ["asc", "desc"]}},
         schema={"required": ["query"], "additionalProperties": False}),
    tool("github.get-issue", {"number": {"type": "integer"}}, outputSchema={"type": "object"}),
    tool("odd-server.a b/c"),
    *(tool(f"test.{name}") for name in ("text", "json", "number", "nothing", "two", "picture", "sound", "blob", "link",
                                        "fails", "denied", "timeout", "unavailable", "limit", "slow", "hang", "secret",
                                        "refused")),
    tool("test.wait_for", {"event": TEXT}),
    tool("test.echo", schema={"additionalProperties": True}),
]


def content(*blocks, **more):
    return {"content": list(blocks), **more}


def text(value, **more):
    return content({"type": "text", "text": value}, **more)


def failure(kind):
    return text(f"it is {kind}", isError=True, _meta={"pyexecd/failure": kind})


def blob(value):
    return base64.b64encode(value).decode()


IMAGE = {"type": "image", "mimeType": "image/png", "data": blob(PICTURE)}
ANSWERS = {
    "github.get-issue": lambda args: text("seen by models", structuredContent={"number": args["number"], "title": "a bug"}),
    "github.search_issues": lambda args: text(json.dumps([args])),
    "odd-server.a b/c": lambda args: text("odd"),
    "test.text": lambda args: text("some text"),
    "test.json": lambda args: text('{"a": [1, 2]}'),
    "test.number": lambda args: text("1.10"),
    "test.nothing": lambda args: content(),
    "test.two": lambda args: content({"type": "text", "text": "one"}, IMAGE),
    "test.picture": lambda args: content(IMAGE),
    "test.sound": lambda args: content({"type": "audio", "mimeType": "audio/wav", "data": blob(PICTURE)}),
    "test.blob": lambda args: content({"type": "resource", "resource": {"uri": "x:y", "blob": blob(PICTURE)}}),
    "test.link": lambda args: content({"type": "resource_link", "uri": "x:y", "name": "n"}),
    "test.fails": lambda args: text("no such issue", isError=True),
    "test.echo": lambda args: text(json.dumps(args), structuredContent=args),
    **{f"test.{kind}": lambda args, kind=kind: failure(kind) for kind in ("denied", "timeout", "unavailable", "limit")},
}


class Server:
    """Answers on its end of a socket, each request in a thread of its own. `seen` has what came; test.wait_for is answered
    when its event has happened."""

    def __init__(self, end):
        self.end = end
        self.seen = []
        self.cancelled = []
        self.happened = {"hang": threading.Event(), "cancelled": threading.Event()}
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with self.end.makefile("rb") as lines:
            for line in lines:
                if not line.strip():
                    continue
                try:
                    message = json.loads(line)
                except ValueError:
                    self.send({"id": None, "error": {"code": -32700, "message": "Parse error"}})
                    continue
                with self.lock:
                    self.seen.append(message)
                if message["method"] == "notifications/cancelled":
                    self.cancelled.append(message["params"]["requestId"])
                    self.happened["cancelled"].set()
                else:
                    threading.Thread(target=self.answer, args=(message,), daemon=True).start()

    def answer(self, message):
        if message["method"] == "tools/list":
            start = int(message["params"].get("cursor", 0))
            page = {"tools": TOOLS[start : start + 10]}
            if start + 10 < len(TOOLS):
                page["nextCursor"] = str(start + 10)
            self.send({"id": message["id"], "result": page})
            return
        name, arguments = message["params"]["name"], message["params"]["arguments"]
        with self.lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        if name == "test.slow":
            time.sleep(0.3)
            answer = {"result": text("slow")}
        elif name == "test.hang":
            self.happened["hang"].set()
            answer = None
        elif name == "test.wait_for":
            self.happened[arguments["event"]].wait()
            answer = {"result": text(arguments["event"])}
        elif name == "test.refused":
            answer = {"error": {"code": -32602, "message": "Unknown tool: x"}}
        else:
            answer = {"result": ANSWERS[name](arguments)}
        with self.lock:
            self.at_once -= 1
        if answer:
            self.send({"id": message["id"], **answer})

    def send(self, message):
        with self.lock, contextlib.suppress(OSError):
            self.end.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def calls(self):
        return [message["params"] for message in self.seen if message["method"] == "tools/call"]


def run(script, python=sys.executable, directory=None, patience=60):
    """Executes SCRIPT with the module. Returns what it has printed, its errors, its status and the server."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        server = Server(ours)
        start = LOADER.format(path=os.fspath(MODULE))
        path = pathlib.Path(directory or os.getcwd(), "script.py")
        command = start + f"\nexec(compile({script!r}, {os.fspath(path)!r}, 'exec'), globals())"
        done = subprocess.run([python, "-W", "ignore::DeprecationWarning", "-c", command, str(theirs.fileno())],
                              pass_fds=[theirs.fileno()], cwd=directory, capture_output=True, text=True, timeout=patience)
    return done.stdout, done.stderr, done.returncode, server
