#!/usr/bin/env python3
"""What the server can do, by revision and transport: tried out, and told as two tables.

    support.py SERVER [--write]

SERVER is the server of this folder. With --write the tables of docs/protocol.md are replaced.
"""

import contextlib
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import ports  # noqa: E402
import suite  # noqa: E402
from peer import MODERN, P, HttpPeer, LinePeer  # noqa: E402

DOCUMENT = suite.ROOT / "docs" / "protocol.md"
REVISIONS = ["2024-11-05", *suite.REVISIONS]
TRANSPORTS = ["stdio", "unix", "tcp", "HTTP"]
BEGIN, END = "<!-- support: begin -->\n", "<!-- support: end -->\n"
YES, NO = "yes", "–"
METHOD_NOT_FOUND = -32601
SLOW_SECONDS = 0.5  # in which what is not to come has not come
CANCELLED = 5  # tries to cancel a call before it is answered


# Peers

def unix_or_tcp(server, revision, folder, transport):
    if transport == "unix":
        address, family, target = f"unix:{folder}/socket", socket.AF_UNIX, f"{folder}/socket"
    else:
        target = ("127.0.0.1", ports.free_port())
        address, family = f"tcp:127.0.0.1:{target[1]}", socket.AF_INET
    process = subprocess.Popen([server, address], stdin=subprocess.DEVNULL)
    stream = socket.socket(family)
    while stream.connect_ex(target):
        time.sleep(0.02)
    return process, stream


@contextlib.contextmanager
def connected(server, transport, revision):
    """A peer of SERVER that has not said anything yet."""
    if transport == "HTTP":
        with suite.served(server) as url:
            yield HttpPeer(revision, url)
    elif transport == "stdio":
        process = subprocess.Popen([server, "stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        peer = LinePeer(revision, process.stdout, process.stdin)
        yield peer
        process.stdin.close()
        process.wait(suite.START_SECONDS)
        peer.reader.join()
    else:
        with tempfile.TemporaryDirectory() as folder:
            process, stream = unix_or_tcp(server, revision, folder, transport)
            with stream, stream.makefile("rwb") as file:
                peer = LinePeer(revision, file, file)
                yield peer
                process.terminate()
                process.wait(suite.START_SECONDS)
                peer.reader.join()


# Rows of the first table: what each revision has, over every transport

def serves(*requests):
    """Whether the methods of REQUESTS, (method, params) each, are there: all of them or none."""
    def probe(peer):
        codes = [peer.request(*request).get("error", {}).get("code") for request in requests]
        missing = [code == METHOD_NOT_FOUND for code in codes]
        assert all(missing) or not any(missing), f"{requests}: {codes}"
        return NO if missing[0] else YES
    return probe


def listen(peer):
    """It is answered when it ends, which it does not here."""
    number = peer.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    first = peer.wait(lambda message: message.get("id") == number
                      or message.get("method") == "notifications/subscriptions/acknowledged")
    return NO if first.get("error", {}).get("code") == METHOD_NOT_FOUND else YES


def cancelled(peer):
    """Whether a call that was cancelled is never answered, while one that began later is. On a busy machine the first
    may be answered before it is cancelled."""
    for number in range(CANCELLED):
        token = f"call {number}"
        call = peer.start("tools/call", {"name": "test_tool_with_progress"}, progressToken=token)
        assert peer.wait(lambda message: message.get("params", {}).get("progressToken") == token)
        peer.send({"method": "notifications/cancelled", "params": {"requestId": call}})
        peer.call("test_tool_with_progress")
        if not peer.wait(lambda message: message.get("id") == call, SLOW_SECONDS):
            return YES
    return NO


def progress(peer):
    peer.call("test_tool_with_progress", progressToken="token")
    return YES if peer.hears("notifications/progress", 0) else NO


def log_messages(peer):
    if peer.revision == MODERN:
        peer.call("test_tool_with_logging", **{f"{P}logLevel": "info"})
    else:
        peer.request("logging/setLevel", {"level": "info"})
        peer.call("test_tool_with_logging")
    return YES if peer.hears("notifications/message", 0) else NO


def asks(method, tool, arguments=None):
    """How TOOL gets what it asks for by METHOD."""
    def probe(peer):
        result = peer.call(tool, arguments).get("result", {})
        if result.get("resultType") == "input_required":
            return "in a result"
        return "by request" if peer.hears(method, 0) else NO
    return probe


def watch(peer, **wanted):
    """Asks for what is no part of an answer; over HTTP it needs a stream of its own."""
    if peer.revision == MODERN:
        peer.start("subscriptions/listen", {"notifications": wanted})
        assert peer.hears("notifications/subscriptions/acknowledged")
    elif isinstance(peer, HttpPeer):
        peer.listen()
        assert peer.listening.wait(suite.START_SECONDS)


def changed_lists(peer):
    watch(peer, toolsListChanged=True, promptsListChanged=True)
    peer.call("test_trigger_tool_change")
    peer.call("test_trigger_prompt_change")
    heard = [peer.hears(f"notifications/{kind}/list_changed") for kind in ("tools", "prompts")]
    return YES if all(heard) else NO


def changed_resource(peer):
    uri = "test://watched-resource"
    watch(peer, resourceSubscriptions=[uri])
    if peer.revision != MODERN:
        peer.request("resources/subscribe", {"uri": uri})
    peer.call("test_trigger_resource_update")
    return YES if peer.hears("notifications/resources/updated") else NO


def task(peer):
    params = {"name": "slow_compute", "arguments": {"seconds": 0.2}, "task": {}}
    result = peer.request("tools/call", params)["result"]
    if "task" in result:
        return "asked for by the client"
    return "decided by the server" if result.get("resultType") == "task" else NO


def batch(peer):
    ping = {"jsonrpc": "2.0", "id": "in a batch", "method": "ping", "params": {}}
    peer.send([ping])
    answer = peer.wait(lambda message: isinstance(message, list) or message.get("id", 0) is None)
    return YES if isinstance(answer, list) else NO


UNKNOWN = {"taskId": "there-is-none"}
ROWS = [
    ("`ping`", serves(("ping", {}))),
    ("`server/discover`", serves(("server/discover", {}))),
    ("`tools/list`, `tools/call`",
     serves(("tools/list", {}), ("tools/call", {"name": "test_simple_text", "arguments": {}}))),
    ("`prompts/list`, `prompts/get`",
     serves(("prompts/list", {}), ("prompts/get", {"name": "test_simple_prompt"}))),
    ("`resources/list`, `resources/templates/list`, `resources/read`",
     serves(("resources/list", {}), ("resources/templates/list", {}),
            ("resources/read", {"uri": "test://static-text"}))),
    ("`resources/subscribe`, `resources/unsubscribe`",
     serves(("resources/subscribe", {"uri": "test://static-text"}),
            ("resources/unsubscribe", {"uri": "test://static-text"}))),
    ("`completion/complete`",
     serves(("completion/complete", {"ref": {"type": "ref/prompt",
                                             "name": "test_prompt_with_arguments"},
                                     "argument": {"name": "arg1", "value": "p"}}))),
    ("`logging/setLevel`", serves(("logging/setLevel", {"level": "info"}))),
    ("`tasks/get`, `tasks/cancel`", serves(("tasks/get", UNKNOWN), ("tasks/cancel", UNKNOWN))),
    ("`tasks/result`", serves(("tasks/result", UNKNOWN))),
    ("`tasks/list`", serves(("tasks/list", {}))),
    ("`tasks/update`", serves(("tasks/update", {**UNKNOWN, "inputResponses": {}}))),
    ("`subscriptions/listen`", listen),
    ("`notifications/cancelled`", cancelled),
    ("progress", progress),
    ("log messages", log_messages),
    ("asking the user (elicitation)", asks("elicitation/create", "test_elicitation",
                                           {"message": "Who are you?"})),
    ("asking the model (sampling)", asks("sampling/createMessage", "test_sampling",
                                         {"prompt": "What is it?"})),
    ("asking for roots", asks("roots/list", "test_input_required_result_list_roots")),
    ("lists that changed", changed_lists),
    ("resources that changed", changed_resource),
    ("a call becomes a task", task),
    ("batches", batch),
]


# Rows of the second table: what HTTP has beyond that

def session(peer):
    if not peer.session:
        return NO
    ended = peer.exchange("DELETE")
    ping = '{"jsonrpc": "2.0", "id": "after", "method": "ping"}'
    return YES if (ended, peer.exchange("POST", ping)) == (204, 404) else NO


def own_stream(peer):
    watch = peer.listen()
    assert peer.listening.wait(suite.START_SECONDS)
    watch.join(SLOW_SECONDS)
    return YES if watch.is_alive() else NO


def missed_events(peer):
    peer.call("test_tool_with_progress", progressToken="token")
    if not peer.events:
        return NO
    seen = len(peer.events)
    missed = set(peer.events[1:seen])
    again = peer.listen(**{"Last-Event-ID": peer.events[0]})
    deadline = time.monotonic() + suite.START_SECONDS
    while again.is_alive() and not missed <= set(peer.events[seen:]) and time.monotonic() < deadline:
        again.join(0.02)
    return YES if missed <= set(peer.events[seen:]) else NO


def let_go(peer):
    first = peer.start("tools/call", {"name": "test_reconnection", "arguments": {}})
    answered = lambda message: message.get("id") == first
    peer.under_way.join(suite.START_SECONDS)
    if peer.wait(answered, 0) or not peer.events:
        return NO
    peer.listen(**{"Last-Event-ID": peer.events[-1]})
    return YES if peer.wait(answered) else NO


def checked_fields(peer):
    text = '{"jsonrpc": "2.0", "id": "odd", "method": "tools/list", "params": {"_meta": %s}}'
    fields = {**peer.fields({"method": "tools/list"}), "Mcp-Method": "tools/call"}
    return YES if peer.exchange("POST", text % json.dumps(peer.envelope()), fields) == 400 else NO


HTTP_ROWS = [
    ("a session (`Mcp-Session-Id`), ended by `DELETE`", session),
    ("a stream for what is no part of an answer (`GET`)", own_stream),
    ("what was missed, by `Last-Event-ID`", missed_events),
    ("a client that waits is let go and comes back (polling)", let_go),
    ("header fields that have to fit the message (`Mcp-Method`, `Mcp-Name`, `Mcp-Param-...`)",
     checked_fields),
]


# The tables

def tried(server, transport, revision, probe):
    """What PROBE says of a server that has done nothing else."""
    with connected(server, transport, revision) as peer:
        if revision != MODERN:
            peer.initialize()
        return probe(peer)


def cell(found):
    """FOUND, by transport, in a few words: what most of them say comes first."""
    common = max(found.values(), key=list(found.values()).count)
    others = [f"{transport}: {value}" for transport, value in found.items() if value != common]
    return f"{common} ({', '.join(others)})" if others else common


def table(server, rows, transports):
    yield "| |" + "".join(f" {revision} |" for revision in REVISIONS)
    yield "|---" * (len(REVISIONS) + 1) + "|"
    for name, probe in rows:
        cells = [cell({transport: tried(server, transport, revision, probe)
                       for transport in transports}) for revision in REVISIONS]
        yield f"| {name} |" + "".join(f" {one} |" for one in cells)


def tables(server):
    return "\n".join([
        f"Tried out without tokens; the same over {', '.join(TRANSPORTS[:-1])} and {TRANSPORTS[-1]} where nothing else is said:",
        "", *table(server, ROWS, TRANSPORTS), "", "Over HTTP also:", "",
        *table(server, HTTP_ROWS, ["HTTP"])]) + "\n"


def written():
    """The tables as the document has them."""
    return DOCUMENT.read_text().split(BEGIN)[1].split(END)[0]


def main():
    server, *options = sys.argv[1:]
    found = tables(server)
    if "--write" in options:
        DOCUMENT.write_text(DOCUMENT.read_text().replace(BEGIN + written(), BEGIN + found))
    else:
        print(found, end="")


if __name__ == "__main__":
    main()
