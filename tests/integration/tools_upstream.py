"""An MCP server over stdio whose tools scripts call in tests.

    echo {...}         its arguments, as structured content
    sleep {seconds}    the text "slept", after a while, and progress before
    hang {}            never ends by itself
    big {bytes}        a text of that length
    flood {mebibytes}  a text of that length, which is never whole in memory
    picture {}         an image of 16 bytes
    fail {}            a tool that says no
    held {}            how many calls are pending
    die {}             ends the server
    old {n}            a tool whose schema is of an older draft
    odd {...}          a tool whose schema cannot be compiled
    answer {...}       its arguments, as the whole result
    write {text}       a tool that does not only read
    secret {}          the variable SECRET
    process {}         a name of its process, which no other has
"""

import base64
import json
import os
import sys
import threading

SCHEMA = {"type": "object", "properties": {"seconds": {"type": "number"}, "bytes": {"type": "integer"},
                                           "mebibytes": {"type": "integer"}}}
PICTURE = base64.b64encode(bytes(range(16))).decode()
OWN_NAME = os.urandom(8).hex()
out = threading.Lock()
pending = {}  # events that end the calls, by id


def tool(name, schema=SCHEMA, reads=True):
    return {"name": name, "description": "A tool for tests. It has \u202e more.", "inputSchema": schema,
            "annotations": {"readOnlyHint": reads}}


TOOLS = [*(tool(name, {**SCHEMA, "additionalProperties": True}) for name in ("echo", "answer")),
         *(tool(name) for name in ("sleep", "hang", "big", "flood", "picture", "fail", "held", "die", "secret", "process")),
         tool("odd", {"type": "object", "properties": {"a": {"type": "nonsense"}}}),
         tool("old", {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
                      "properties": {"n": {"type": "integer"}}}),
         tool("write", {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}, reads=False)]


def send(message):
    with out:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def wait(key, seconds):
    """False: the call is cancelled."""
    return not pending[key].wait(seconds)


def act(key, name, arguments, meta):
    if name == "sleep":
        if "progressToken" in meta:
            send({"method": "notifications/progress", "params": {"progressToken": meta["progressToken"], "progress": 1}})
        return text("slept") if wait(key, arguments.get("seconds", 0)) else None
    if name == "hang":
        wait(key, None)
        return None
    if name == "big":
        return text("x" * arguments["bytes"])
    if name == "picture":
        return {"content": [{"type": "image", "mimeType": "image/png", "data": PICTURE}]}
    if name == "fail":
        return {**text("it says no"), "isError": True, "_meta": {"pyexecd/failure": "denied"}}
    if name == "held":
        return {"content": [], "structuredContent": len(pending) - 1}
    if name == "die":
        os._exit(1)
    if name == "answer":
        return arguments
    if name == "process":
        return text(OWN_NAME)
    if name == "secret":
        return text(f"it is {os.environ.get('SECRET')}")
    return {"content": [], "structuredContent": arguments}


def flood(key, mebibytes):
    with out:
        sys.stdout.write('{"jsonrpc": "2.0", "id": %s, "result": {"content": [{"type": "text", "text": "' % json.dumps(key))
        for _ in range(mebibytes):
            sys.stdout.write("x" * (1 << 20))
        sys.stdout.write('"}]}}\n')
        sys.stdout.flush()


def handle(message):
    params = message["params"]
    if params["name"] == "flood":
        pending.pop(message["id"])
        flood(message["id"], params["arguments"]["mebibytes"])
        return
    try:
        result = act(message["id"], params["name"], params.get("arguments", {}), params.get("_meta", {}))
    finally:
        pending.pop(message["id"])
    if result is not None:
        send({"id": message["id"], "result": result})


def serve():
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            send({"id": message["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                                  "serverInfo": {"name": "test", "version": "1"}}})
        elif method == "tools/list":
            send({"id": message["id"], "result": {"tools": TOOLS}})
        elif method == "tools/call":
            pending[message["id"]] = threading.Event()
            threading.Thread(target=handle, args=(message,), daemon=True).start()
        elif method == "notifications/cancelled":
            if event := pending.get(message["params"]["requestId"]):
                event.set()
        elif "id" in message:
            send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})


serve()
