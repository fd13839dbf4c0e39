"""Several servers behind one balancer, here a client whose connections go to each in turn."""

import base64
import contextlib
import hashlib
import hmac
import itertools
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import pytest

import client
import http_peer
import leftovers
import ports
import wire
from sessions import Session, call, text_of
from test_doctor import doctor, line_of
from test_http_stateless import modern
from test_output_pieces import FLOOD
from test_output_pieces import start as start_for_pieces
from test_tasks import Caller

NAMES = "abc"
SECRET = "0123456789abcdef0123456789abcdef"
TOKENS = {"alice": "alice" * 4, "bob": "bob" * 6}
BALANCER = "balancer.example"
CUT = "code that is cut off"


class Replicas:
    """Three servers; CONFIG is the further configuration of each."""

    def __init__(self, folder, stack, **config):
        self.folder, self.stack = folder, stack
        self.ports = {name: ports.free_port() for name in NAMES}
        key = self.write("key", SECRET)
        tokens = self.write("tokens", "".join(
            f"{name} sha256:{hashlib.sha256(token.encode()).hexdigest()}\n"
            for name, token in TOKENS.items()))
        everyone = {name: f"http://127.0.0.1:{port}/mcp" for name, port in self.ports.items()}
        self.configs = {name: {
            "listen": [everyone[name]],
            "token_file": str(tokens),
            "http": {"allowed_hosts": [BALANCER]},
            "sessions": {"number": 64, "number_per_client": 64},
            "replicas": {"self": name, "all": everyone, "key_file": str(key)},
            **config,
        } for name in NAMES}
        self.servers = {name: self.start(name) for name in NAMES}

    def start(self, name):
        return self.stack.enter_context(
            client.Server(transport="http", config=self.configs[name]))

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o600)
        return path

    def peer(self, names=NAMES, principal="alice"):
        """A client whose connections go to NAMES in turn."""
        turns = itertools.cycle(names)
        return http_peer.Peer(
            lambda: http_peer.tcp(("127.0.0.1", self.ports[next(turns)]))(), BALANCER,
            token=TOKENS[principal])

    def connect(self, revision=wire.MODERN, names=NAMES, principal="alice", capabilities=None):
        connection = client._http_connection(self.peer(names, principal))
        connection.initialize(revision, capabilities)
        return connection

    def log(self, name):
        return self.servers[name].stderr()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        yield Replicas(tmp_path_factory.mktemp("replicas"), stack)


@pytest.fixture
def own(tmp_path):
    """Replicas of one test; call it with what else they are configured with."""
    with contextlib.ExitStack() as stack:
        yield lambda **config: Replicas(tmp_path, stack, **config)


def stdout(answer):
    return answer["structuredContent"]["stdout"]


# What is had by one and asked of all


@pytest.mark.parametrize("revision", client.REVISIONS[:-1])
def test_a_session_of_http_goes_on_at_whichever_replica(shared, revision):
    connection = shared.connect(revision)
    assert connection.http.session[:2] in {"a-", "b-", "c-"}
    for number in range(6):
        answer = connection.call_tool("run_python", {
            "code": f"print({number}, file=open('all', 'a')); print(*open('all'), sep=' ')"})
        assert " ".join(str(i) for i in range(number + 1)) in " ".join(text_of(answer).split())
    assert connection.http.delete().status == 204
    assert connection.http.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).wait().status == 404


def test_a_session_of_python_goes_on_at_whichever_replica(shared):
    connection = shared.connect()
    session = Session(connection, "count = 0")
    assert session.name[1] == "-"
    for number in range(6):
        assert session.shown("count += 1; print(count)") == str(number + 1)
    copies = [Session(connection, "count += 100", fork=session.name) for _ in range(3)]
    assert {copy.name[0] for copy in copies} == {session.name[0]}
    assert [copy.shown("print(count)") for copy in copies] == ["106"] * 3


def test_a_working_directory_and_its_files_are_found_from_everywhere(shared):
    connection = shared.connect()
    first = connection.call_tool("run_python", {"code": "open('made', 'w').write('of one')"})
    handle = first["structuredContent"]["working_directory"]
    for _ in range(3):
        answer = connection.call_tool("run_python", {
            "code": "print(open('made').read())", "working_directory": handle})
        assert stdout(answer) == "of one\n"
        (file,) = connection.request("resources/read",
                                     {"uri": f"pyexecd://{handle}/made"})["contents"]
        assert file["text"] == "of one"


def test_the_next_page_of_a_list_of_files_is_had_from_everywhere(shared):
    first = shared.connect(names="b")
    first.call_tool("run_python", {"code": "for i in range(250): open(f'listed{i:03}', 'w').close()"})
    page = first.request("resources/list")
    connection, names = shared.connect(names="ac"), []
    while True:
        names += [resource["name"] for resource in page["resources"] if resource["name"].startswith("listed")]
        if "nextCursor" not in page:
            break
        page = connection.request("resources/list", {"cursor": page["nextCursor"]})
    assert names == [f"listed{i:03}" for i in range(250)]


def test_a_task_is_asked_for_at_whichever_replica(shared):
    caller = Caller(client._http_connection(shared.peer()), wire.MODERN)
    tasks = [caller.make("run_python", {"code": f"import time; time.sleep({seconds}); print(42)"})
             for seconds in (600, 4, 4)]
    assert {task["taskId"][0] for task in tasks} == set(NAMES)
    caller.cancel(tasks[0])
    assert caller.wait(tasks[0])["status"] == "cancelled"
    assert [stdout(caller.result(task)) for task in tasks[1:]] == ["42\n"] * 2


def test_a_task_of_a_session_is_asked_for_at_whichever_replica(shared):
    caller = Caller(client._http_connection(shared.peer()), "2025-11-25")
    task = caller.make("run_python", {"code": "print(42)"})
    assert stdout(caller.result(task)) == "42\n"


def test_an_approval_is_for_one_run_wherever_it_is_shown(own):
    replicas = own(approval="always")
    connection = replicas.connect(capabilities={"elicitation": {}})
    arguments = {"code": "print('executed')"}
    asked = connection.call_tool("run_python", arguments)
    answered = {"name": "run_python", "arguments": arguments,
                "requestState": asked["requestState"],
                "inputResponses": {"approve_run": {"action": "accept",
                                                   "content": {"approve": "yes"}}}}
    assert stdout(connection.request("tools/call", answered)) == "executed\n"
    for _ in NAMES:
        with pytest.raises(client.RpcError) as caught:
            connection.request("tools/call", answered)
        assert "requestState" in str(caught.value)


# Streams


def owner_and_other(session):
    owner = session[0]
    return owner, next(name for name in NAMES if name != owner)


def test_events_come_as_they_are_made(shared):
    """The script goes on when its client has heard of what it printed."""
    session = Session(shared.connect(names="a"))
    folder = session.shown("import os; print(os.getcwd())")
    connection = shared.connect(names="b")
    code = ("import os, time\nprint('begun', flush=True)\n"
            "while not os.path.exists('go'):\n    time.sleep(0.01)\nprint('gone')")
    request = connection.start_tool("run_python", {"code": code, "session": session.name},
                                    progress_token="t")
    while not any("begun" in progress.get("message", "") for progress in connection.progress("t")):
        connection.notifications.append(connection.receive())
    open(folder + "/go", "w").close()
    assert stdout(connection.wait(request)["result"]) == "begun\ngone\n"


def test_who_does_not_read_still_gets_the_end(shared):
    """More events than all buffers on the way take; optional ones are left out."""
    session = Session(shared.connect(names="a"))
    folder = pathlib.Path(session.shown("import os; print(os.getcwd())"))
    connection = shared.connect(names="b")
    request = start_for_pieces(connection, FLOOD + "flood(100_000); print('the end')",
                               session=session.name)
    assert leftovers.until((folder / "flooded").exists)
    answer = connection.wait(request)
    assert answer["result"]["structuredContent"]["stdout"].endswith("the end\n")


def test_a_broken_stream_is_taken_up_at_another_replica(shared):
    connection = shared.connect("2025-06-18")
    owner, other = owner_and_other(connection.http.session)
    connection.http.connect = shared.peer(other).connect
    listening = connection.http.get()
    listening.wait(lambda: listening.status is not None)
    assert listening.status == 200 and listening.is_stream
    again = connection.http.get().wait()
    assert again.status == 409
    listening.close()

    def is_free():
        exchange = connection.http.get()
        exchange.wait(lambda: exchange.status is not None)
        exchange.close()
        return exchange.status == 200

    assert leftovers.until(is_free)


def test_who_leaves_has_cancelled_the_call_at_the_owner(shared):
    session = Session(shared.connect(names="a"), "import os, time\nended = None")
    folder = pathlib.Path(session.shown("print(os.getcwd())"))
    code = ("try:\n    open('begun', 'w').close()\n    time.sleep(200)\n"
            "except KeyboardInterrupt:\n    ended = 'interrupted'")
    exchange = shared.peer("b").post(modern({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "run_python", "arguments": {"code": code, "session": session.name, "timeout": 250}}}))
    assert leftovers.until((folder / "begun").exists)
    exchange.close()
    assert session.shown("print(ended)") == "interrupted"


# Who asks


def test_nothing_of_one_client_is_found_by_another(shared):
    alice, bob = shared.connect(), shared.connect(principal="bob")
    session = Session(alice, "secret = 1")
    for _ in NAMES:
        answer = call(bob, "print(secret)", session.name)
        assert answer["isError"] and "no session" in text_of(answer)
    legacy = shared.connect("2025-06-18")
    for name in NAMES:
        http = shared.peer(name, "bob")
        http.session = legacy.http.session
        assert http.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).wait().status == 404


def base64_url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


FIELDS = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"),
          ("MCP-Protocol-Version", wire.MODERN), ("Mcp-Method", "tools/call"),
          ("Mcp-Name", "run_python")]
BODY = json.dumps(modern({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "run_python", "arguments": {"code": "print('executed')"}}})).encode()


def seal(number, secret=SECRET, fields=FIELDS, body=BODY,
         purpose=b"pyexecd forwarded requests", **more):
    """What replica a puts before a request to b."""
    key = hashlib.sha256(b"+" + purpose + b"\0" +
                         hashlib.sha256(secret.encode()).digest()).digest()
    now = int(time.time() * 1000)
    parts = ["POST", *itertools.chain(*fields)]
    digest = hashlib.sha256(b"".join(b"+" + part.encode() + b"\0" for part in parts) + b"-" + body)
    payload = {"from": "a", "to": "b", "principal": "alice", "made": now // 1000,
               "epoch": now, "number": number,
               "digest": digest.hexdigest(), **more}
    text = base64_url(json.dumps(payload).encode())
    return f"v1.{text}.{base64_url(hmac.digest(key, text.encode(), 'sha256'))}"


def forward(replicas, text, to="b", fields=FIELDS, body=BODY):
    return replicas.peer(to).start("POST", [("Host", "b"), *fields, ("Pyexecd-Forwarded", text)],
                                   body).wait()


def test_a_seal_is_believed_once(own):
    replicas = own()
    text = seal(1)
    assert "executed" in forward(replicas, text).json()["result"]["content"][0]["text"]
    assert forward(replicas, text).status == 401
    assert leftovers.until(lambda: "it has been used before" in replicas.log("b"))


@pytest.mark.parametrize("wrong, why", [
    ({"secret": "another secret of enough bytes"}, "another key"),
    ({"to": "c"}, "for another replica"),
    ({"from": "z"}, "does not name"),
    ({"principal": ""}, "does not name"),
    ({"made": 1}, "too old"),
    ({"made": 1 << 40}, "too old"),
    ({"epoch": 1 << 50}, "too old"),
    ({"principal": "tcp"}, "no token"),
    ({"principal": "uid-0"}, "no token"),
    ({"number": 0}, "used before"),
    ({"body": BODY + b" "}, "for another request"),
    ({"fields": FIELDS[:-1]}, "for another request"),
    ({"digest": ""}, "for another request"),
])
def test_a_wrong_seal_is_refused(shared, wrong, why):
    number = wrong.pop("number", 7)
    assert forward(shared, seal(number, **wrong)).status == 401
    assert leftovers.until(lambda: why in shared.log("b"))
    wrong["number"] = number


@pytest.mark.parametrize("text", ["", "v1.", "v1..", "v1.e30.", "v2.e30.AAAA", CUT])
def test_what_is_no_seal_is_refused(shared, text):
    assert forward(shared, seal(9)[:-9] if text is CUT else text).status == 401


def test_a_seal_means_nothing_where_there_are_no_replicas():
    with client.Server(transport="http", config={"http": {"allowed_hosts": ["b"]}}) as server:
        exchange = server.http_peer().start(
            "POST", [("Host", "b"), *FIELDS, ("Pyexecd-Forwarded", seal(1))], BODY).wait()
        assert exchange.json()["result"]["content"]  # as anybody there


def test_a_forwarded_request_is_not_forwarded_again(own):
    replicas = own()
    session = Session(replicas.connect(names="c"))
    body = BODY.replace(b'"code":', f'"session": "{session.name}", "code":'.encode())
    text = forward(replicas, seal(1, body=body), body=body).json()["result"]["content"][0]["text"]
    assert "there is no session" in text


def test_users_of_unix_sockets_are_of_their_own_machine(tmp_path):
    key = tmp_path / "key"
    key.write_text(SECRET)
    key.chmod(0o600)
    everyone = {name: f"http://127.0.0.1:{ports.free_port()}/mcp" for name in "ab"}

    def start(name):
        return client.Server(transport="http", config={
            "listen": [everyone[name], f"unix://{tmp_path}/{name}#/mcp"],
            "sessions": {"number": 8},
            "replicas": {"self": name, "all": everyone, "key_file": str(key)}})

    def connect(name):
        def connect_stream():
            stream = socket.socket(socket.AF_UNIX)
            stream.connect(str(tmp_path / name))
            return stream

        connection = client._http_connection(http_peer.Peer(connect_stream, "localhost"))
        connection.initialize(wire.MODERN, None)
        return connection

    with start("a"), start("b"):
        session = Session(connect("a"))
        assert session.shown("print('here')") == "here"
        assert "no session" in text_of(call(connect("b"), "1", session.name))


# What it carries


class Held:
    """A session at the replica of CONNECTION, and in it a call that ends when it is told to."""

    def __init__(self, connection):
        self.session = Session(connection)
        self.folder = pathlib.Path(self.session.shown("import os, time; print(os.getcwd())"))
        self.begun, self.go = self.folder / "begun", self.folder / "go"
        for exchange in connection.http.exchanges:  # an idle connection counts for the client
            exchange.close()
        connection.http.exchanges.clear()

    def post(self, peer, code="pass", **fields):
        return peer.post(modern({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
            "name": "run_python", "arguments": {
                "code": code, "session": self.session.name, "timeout": 250}}}), fields)

    def begin(self, peer, **fields):
        """Returns when it runs. Connections that were closed a moment ago may still count."""
        self.begun.unlink(missing_ok=True)
        self.go.unlink(missing_ok=True)

        def is_begun():
            self.exchange = self.post(peer, (
                "open('begun', 'w').close()\nwhile not os.path.exists('go'):\n    time.sleep(0.01)"),
                **fields)
            while not self.begun.exists() and not self.exchange.complete:
                with contextlib.suppress(TimeoutError):
                    self.exchange.wait(timeout=0.1)
            return self.begun.exists()

        assert leftovers.until(is_begun)
        return self.exchange

    def end(self):
        self.go.touch()
        assert self.exchange.wait().status == 200
        self.exchange.close()


def test_a_client_has_its_share_of_connections_whichever_way_they_come(own):
    replicas = own(limits={"connections_per_client": 4})
    owner = replicas.connect(names="b")
    calls = [Held(owner) for _ in range(5)]
    other = Held(replicas.connect(names="b", principal="bob"))
    for name, held in zip("acac", calls):
        held.begin(replicas.peer(name))
    refused = calls[4].post(replicas.peer("a")).wait()
    assert refused.status == 503 and "Too many connections" in refused.json()["error"]["message"]
    assert other.post(replicas.peer("a", "bob")).wait().status == 200
    for held in calls[:4]:
        held.exchange.close()
    assert leftovers.until(lambda: calls[4].post(replicas.peer("a")).wait().status == 200)


def test_connections_that_replicas_keep_count_for_nobody(own):
    """More of them than a client may have."""
    replicas = own(limits={"connections_per_client": 3})
    owner = replicas.connect(names="b")
    calls = [Held(owner) for _ in range(2)]
    for name in "ac":
        for held in calls:
            held.begin(replicas.peer(name))
        for held in calls:
            held.end()
    assert leftovers.until(lambda: calls[0].post(replicas.peer("b")).wait().status == 200)


def test_a_session_header_means_nothing_where_requests_stand_alone(shared):
    session = Session(shared.connect(names="a"), "here = 1")
    answer = shared.peer("b").post(modern({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "run_python", "arguments": {"code": "print(here)", "session": session.name}}}),
        {"Mcp-Session-Id": "x"}).wait()
    assert "output: 1\n" in text_of(answer.messages()[-1]["result"])


def test_a_body_that_means_nothing_is_left_out(shared):
    connection = shared.connect("2025-06-18", names="a")
    http = shared.peer("b")
    http.session, http.version = connection.http.session, "2025-06-18"
    assert http.start("DELETE", http.session_fields(), b"{}").wait().status == 204


# A replica that is gone


def test_what_a_dead_replica_had_is_gone_and_everything_else_goes_on(own):
    replicas = own()
    modern_client = replicas.connect(names="a")
    session = Session(replicas.connect(names="b"))
    legacy = replicas.connect("2025-06-18", names="b")
    kill(replicas.servers["b"])
    assert "no session" in text_of(call(modern_client, "1", session.name))
    legacy.http.connect = replicas.peer("ac").connect
    assert legacy.http.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).wait().status == 404
    assert stdout(replicas.connect("2025-06-18", "ac").call_tool(
        "run_python", {"code": "print(1)"})) == "1\n"
    assert "replica b cannot be reached" in replicas.log("a")


def kill(server):
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    server.stop = lambda: 0  # a killed one has no code to be asked for


@pytest.mark.parametrize("revision", [wire.NEWEST_LEGACY, wire.MODERN])
def test_a_call_that_a_killed_replica_had_begun_fails_by_name(own, revision):
    replicas = own()
    connection = replicas.connect(revision, names="b")
    session = Session(connection)
    folder = session.shown("import os; print(os.getcwd())")
    connection.http.connect = replicas.peer("a").connect
    request = connection.start_tool("run_python", {
        "code": "import time; open('begun', 'w').close(); time.sleep(60)",
        "session": session.name})
    assert leftovers.until(lambda: os.path.exists(folder + "/begun"))
    kill(replicas.servers["b"])
    error = connection.wait(request)["error"]
    assert "replica b" in error["message"] and "Nobody knows how far it came" in error["message"]


@pytest.mark.parametrize("accept", ["application/json", "application/json, text/event-stream"])
def test_a_call_that_a_stopped_replica_had_begun_fails_by_name(own, accept):
    replicas = own()
    held = Held(replicas.connect(names="b"))
    exchange = held.begin(replicas.peer("a"), Accept=accept)
    replicas.servers["b"].process.send_signal(signal.SIGTERM)
    answer = exchange.wait().messages()[-1]
    assert answer["id"] == 5
    assert "replica b" in answer["error"]["message"]
    assert replicas.servers["b"].wait_exit() == 0  # before it is told once more


class Impostor:
    """What listens at the address of b, and gives ANSWER, or what that returns, to each request."""

    def __init__(self, stack, answer):
        self.listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.answer = answer
        self.url = "http://127.0.0.1:%d/mcp" % self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                stream, _ = self.listener.accept()
                with stream, stream.makefile("rb") as lines:
                    length = 0
                    while (line := lines.readline()) not in (b"\r\n", b""):
                        if line.lower().startswith(b"content-length:"):
                            length = int(line.split(b":")[1])
                    lines.read(length)
                    stream.sendall(self.answer() if callable(self.answer) else self.answer)


@pytest.mark.parametrize("answer, why", [
    (b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", "no answer of pyexecd"),
    (b"HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n", "no answer of pyexecd"),
    (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<hr>",
     "no answer of pyexecd"),
    (b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", "was not executed"),
])
def test_what_is_no_answer_is_said_to_be_none(tmp_path, answer, why):
    with contextlib.ExitStack() as stack:
        impostor = Impostor(stack, answer)
        key = tmp_path / "key"
        key.write_text(SECRET)
        key.chmod(0o600)
        server = stack.enter_context(client.Server(transport="http", config={"replicas": {
            "self": "a", "all": {"a": "http://127.0.0.1:1", "b": impostor.url},
            "key_file": str(key)}}))
        shown = server.http_peer().post(modern({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "run_python", "arguments": {"code": "1", "session": "b-" + "0" * 32}}})).wait()
        message = shown.json()["error"]["message"]
        assert "replica b" in message and why in message
        assert ("Nobody knows" in message) == ("executed" not in message)


def test_each_call_is_answered_once_or_fails_by_name_when_a_replica_is_killed(own):
    """Clients of sessions and others call all the time, and one replica is killed."""
    replicas = own()
    sessions = {name: Session(replicas.connect(names=name), "calls = []").name for name in NAMES}
    counts = {name: [] for name in NAMES}
    done = threading.Event()

    def work(name):
        connection = replicas.connect(names="ac")
        for number in range(300):
            answer = connection.wait(connection.start_tool("run_python", {
                "code": f"calls.append({number}); print(len(calls), len(set(calls)))",
                "session": sessions[name]}))
            counts[name].append(answer)
            if name != "b" and number > 20 and done.is_set():
                return
            if "error" in answer or answer["result"]["isError"]:
                return

    threads = [threading.Thread(target=work, args=[name]) for name in NAMES]
    for thread in threads:
        thread.start()
    assert leftovers.until(lambda: len(counts["b"]) > 5)
    kill(replicas.servers["b"])
    threads[1].join()
    done.set()
    for thread in threads:
        thread.join()
    last = counts["b"][-1]
    assert "replica b" in last.get("error", {}).get("message", "") or \
        "no session" in last["result"]["content"][0]["text"]
    for name in NAMES:
        answered = counts[name][:-1] if name == "b" else counts[name]
        assert [stdout(answer["result"]) for answer in answered] == \
            [f"{number + 1} {number + 1}\n" for number in range(len(answered))]


# The doctor


def as_json(**answer):
    body = json.dumps({"replica": "b", "version": "0", "now": int(time.time() * 1000), **answer}).encode()
    return (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
            % (len(body), body))


class Looks:
    """What the doctor of replica a says of replica b, which is at a given address."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o600)
        return str(path)

    def section(self, name, everyone, secret=SECRET):
        return {"self": name, "all": everyone, "key_file": self.write(f"key-of-{name}", secret)}

    def at(self, url):
        """The line about b, and the verdict."""
        config = self.write("config.yaml", json.dumps({
            "replicas": self.section("a", {"a": "http://127.0.0.1:1", "b": url})}))
        status, sections = doctor("--config", config)
        assert status == 0, sections
        return line_of(sections["replicas"], "b"), "\n".join(sections.get("ready, but", []))


@pytest.fixture
def looks(tmp_path):
    return Looks(tmp_path)


@pytest.mark.parametrize("name, other, secret, why, remedy", [
    ("b", "c", SECRET, "comes from a replica that replicas.all does not name", "one `all` for all"),
    ("c", "a", SECRET, "there is replica c, not b", "the address of b in replicas.all"),
    ("b", "a", SECRET[1:], "there is no replica with this key", "sha256sum "),
])
def test_the_doctor_asks_whether_another_replica_would_believe_it(looks, name, other, secret, why, remedy):
    url = f"http://127.0.0.1:{ports.free_port()}/mcp"
    section = looks.section(name, {name: url, other: "http://127.0.0.1:1"}, secret)
    with client.Server(transport="http", config={"listen": [url], "replicas": section}):
        line, verdict = looks.at(url)
    assert line.startswith("  no ") and why in line and why in verdict and remedy in verdict


def test_the_doctor_says_of_a_replica_that_is_gone_what_shows_why(looks):
    url = f"http://127.0.0.1:{ports.free_port()}/mcp"
    line, verdict = looks.at(url)
    assert line.startswith("  no ") and "replica b cannot be reached: " in line
    assert f"curl -v {url}" in verdict


@pytest.mark.parametrize("answer, why, remedy", [
    (lambda: as_json(now=int(time.time() * 1000) - 100_000), "the clock of replica b is 100 s behind", "timedatectl"),
    (lambda: as_json(now=int(time.time() * 1000) + 100_000), "the clock of replica b is ", "timedatectl"),
    (as_json, "replica b is version 0", "one version for all"),
    (lambda: b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<hr>", "there is no replica with this key", "sha256sum"),
])
def test_the_doctor_looks_at_clocks_and_versions(looks, answer, why, remedy):
    with contextlib.ExitStack() as stack:
        line, verdict = looks.at(Impostor(stack, answer).url)
    assert line.startswith("  no ") and why in line and why in verdict and remedy in verdict


def test_what_the_doctor_asks_uses_up_no_seal(own, looks):
    """It runs beside the replica whose name it has."""
    replicas = own()
    session = Session(replicas.connect(names="b"), "count = 0")
    connection = replicas.connect(names="a")
    for _ in range(2):
        url = f"http://127.0.0.1:{replicas.ports['b']}/mcp"
        line, verdict = looks.at(url)
        assert line.startswith("  yes ") and f"{url}, in " in line and "replica b" not in verdict
        assert "output: 1\n" in text_of(call(connection, "print(1)", session.name))


def test_a_question_is_no_seal_and_a_seal_no_question(own):
    replicas = own()
    question = seal(1, purpose=b"pyexecd questions of replicas")
    assert forward(replicas, question).status == 401
    asked = replicas.peer("b").start("GET", {"Host": "b", "Pyexecd-Question": seal(1)}).wait()
    assert asked.status == 421
    asked = replicas.peer("b").start("GET", {"Host": "b", "Pyexecd-Question": question}).wait()
    assert asked.json()["replica"] == "b" and asked.json()["problem"] is None
    assert forward(replicas, seal(1)).status == 200


# The configuration


@pytest.mark.parametrize("wrong, why", [
    ({"self": "d"}, "is not among the names in all"),
    ({"self": "A"}, "self"),
    ({"all": {"a": "http://127.0.0.1:1/mcp"}}, "at least 2 members"),
    ({"all": {"a": "http://127.0.0.1:1", "b": "ftp://127.0.0.1"}}, "all.b"),
    ({"all": {"a": "http://127.0.0.1:1", "b": "http://127.0.0.1:99999"}}, "all.b"),
    ({"all": {"a": "http://127.0.0.1:1", "b": "http://127.0.0.1:1"}}, "is the address of a, too"),
    ({"key_file": "/nonexistent"}, "cannot open /nonexistent"),
    ({"key_file": "TOKENS"}, "must hold one secret and nothing else"),
    ({"key_file": "OPEN"}, "others may read"),
])
def test_mistakes_are_found_before_the_start(tmp_path, wrong, why):
    for name, text, mode in (("key", SECRET, 0o600), ("OPEN", SECRET, 0o644),
                             ("TOKENS", "alice sha256:" + "0" * 64 + "\n", 0o600)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    section = {"self": "a", "key_file": "key",
               "all": {"a": "http://127.0.0.1:1", "b": "http://127.0.0.1:2"}, **wrong}
    if not section["key_file"].startswith("/"):
        section["key_file"] = str(tmp_path / section["key_file"])
    (tmp_path / "config.yaml").write_text(json.dumps({"replicas": section}))
    (tmp_path / "config.yaml").chmod(0o600)
    shown = subprocess.run([os.environ["PYEXECD"], "--check-config", "--config",
                            str(tmp_path / "config.yaml")], capture_output=True, text=True)
    assert why in shown.stdout + shown.stderr and shown.returncode != 0


def test_the_secret_is_no_token(tmp_path):
    key, tokens, config = (tmp_path / name for name in ("key", "tokens", "config.yaml"))
    key.write_text(SECRET)
    tokens.write_text(f"alice sha256:{hashlib.sha256(SECRET.encode()).hexdigest()}\n")
    config.write_text(json.dumps({"token_file": str(tokens), "replicas": {
        "self": "a", "key_file": str(key),
        "all": {"a": "http://127.0.0.1:1", "b": "http://127.0.0.1:2"}}}))
    for path in (key, tokens, config):
        path.chmod(0o600)
    shown = subprocess.run([os.environ["PYEXECD"], "--check-config", "--config", str(config)],
                           capture_output=True, text=True)
    assert "holds a token of token_file" in shown.stdout + shown.stderr and shown.returncode != 0
