"""Calls that go on without the request that started them, in both forms: what 2025-11-25 has, and
the extension of 2026-07-28."""

import hashlib
import json
import os
import pathlib
import re
import time

import pytest

import client
import leftovers
import wire
from client import PREFIX, RpcError, Server
from test_progress_cancel import HEARTBEAT, KILL_SECONDS, last_beat

EXTENSION = PREFIX + "tasks"
RELATED = PREFIX + "related-task"
FIXTURE = os.environ.get("FIXTURE") or str(
    pathlib.Path(os.environ["PYEXECD"]).parent / "tests" / "fixture" / "fixture")
INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY = -32602, -32601, -32021
EVERYTHING = {"elicitation": {"form": {}}, "extensions": {EXTENSION: {}}}

ENDS = {"completed", "failed", "cancelled"}


class Caller:
    """A client that knows tasks, in the form of REVISION."""

    def __init__(self, connection, revision, capabilities=None):
        self.connection = connection
        self.is_modern = revision == wire.MODERN
        if capabilities is None:
            capabilities = EVERYTHING if self.is_modern else {"elicitation": {}}
        connection.initialize(revision, capabilities)

    def start(self, method, params):
        return self.connection.start_request(method, params)

    def request(self, method, params, timeout=client.TIMEOUT):
        response = self.connection.wait(self.start(method, params), timeout)
        if "error" in response:
            raise RpcError(response["error"])
        return response["result"]

    def call(self, tool, arguments, **more):
        """What a call answers at once."""
        return self.request("tools/call", {"name": tool, "arguments": arguments, **more})

    def make(self, tool, arguments, ttl=None, **more):
        """The task that a call becomes."""
        if self.is_modern:
            task = self.call(tool, arguments, **more)
            assert task["resultType"] == "task", task
            return task
        task = {} if ttl is None else {"ttl": ttl}
        return self.call(tool, arguments, task=task, **more)["task"]

    def get(self, task):
        return self.request("tasks/get", {"taskId": task["taskId"]})

    def cancel(self, task):
        return self.request("tasks/cancel", {"taskId": task["taskId"]})

    def release(self, name):
        self.call("release", {"name": name})

    def wait(self, task, statuses=ENDS, timeout=client.TIMEOUT):
        """The task once it has one of STATUSES."""
        deadline = time.monotonic() + timeout
        while (now := self.get(task))["status"] not in statuses:
            assert time.monotonic() < deadline, now
            time.sleep(0.02)
        return now

    def result(self, task):
        """What the task ended with."""
        if self.is_modern:
            return self.wait(task)["result"]
        return self.request("tasks/result", {"taskId": task["taskId"]})

    def notified(self, method, count):
        """The params of COUNT notifications that have come or come now."""
        def found():
            return [message["params"] for message in self.connection.notifications
                    if message["method"] == method]
        while len(found()) < count:
            self.connection.notifications.append(self.connection.receive())
        return found()

    def answer(self, request_id, result):
        self.connection.send({"jsonrpc": "2.0", "id": request_id, "result": result})


def texts(result):
    return [block["text"] for block in result["content"]]


def accept(value):
    return {"action": "accept", "content": {"value": value}}


@pytest.fixture(params=["stdio", "unix", "http"])
def fixture_server(request):
    with Server(transport=request.param, command=[FIXTURE]) as server:
        yield server


@pytest.fixture(params=[wire.NEWEST_LEGACY, wire.MODERN])
def caller(request, fixture_server):
    """In either form."""
    return Caller(fixture_server, request.param)


@pytest.fixture
def legacy(fixture_server):
    """Over HTTP it listens to what belongs to no request, too."""
    caller = Caller(fixture_server, wire.NEWEST_LEGACY)
    if fixture_server.http:
        fixture_server.http.listen()
    return caller


@pytest.fixture
def modern(fixture_server):
    return Caller(fixture_server, wire.MODERN)


# Both forms


def test_a_task_is_there_when_its_caller_is_told_and_ends_with_what_the_call_ends_with(caller):
    task = caller.make("later", {"name": "a"})
    assert re.fullmatch("[0-9a-f]{32}", task["taskId"])
    assert task["status"] == "working"
    assert caller.get(task)["status"] == "working"
    caller.release("a")
    assert caller.get(task)["status"] == "completed"
    assert texts(caller.result(task)) == ["a"]


def test_what_is_kept_does_not_change(caller):
    task = caller.make("later", {"name": "a"})
    caller.release("a")
    assert caller.get(task) == caller.get(task)
    assert caller.result(task) == caller.result(task)


def test_no_two_tasks_have_the_same_id(caller):
    ids = {caller.make("later", {"name": str(i)})["taskId"] for i in range(20)}
    assert len(ids) == 20


def test_a_cancelled_task_is_cancelled_for_good(caller):
    task = caller.make("later", {"name": "a"})
    caller.cancel(task)
    assert caller.get(task)["status"] == "cancelled"
    with_error = caller.call("release", {"name": "a"})
    assert with_error["isError"], "its work goes on"
    assert caller.get(task)["status"] == "cancelled"


@pytest.mark.parametrize("identifier", ["0" * 32, "", "nobody"])
@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel"])
def test_a_task_that_nobody_knows_is_a_wrong_parameter(caller, method, identifier):
    with pytest.raises(RpcError) as caught:
        caller.request(method, {"taskId": identifier})
    assert caught.value.code == INVALID_PARAMS


@pytest.mark.parametrize("params", [{}, {"taskId": 1}, {"taskId": None}, {"taskId": []}])
def test_a_task_must_be_named(caller, params):
    with pytest.raises(RpcError) as caught:
        caller.request("tasks/get", params)
    assert caught.value.code == INVALID_PARAMS


def test_what_the_work_tells_is_the_status_message(caller):
    task = caller.make("later", {"name": "a"})
    assert "statusMessage" not in task
    caller.release("a")
    assert caller.get(task)["statusMessage"] == "released"


def test_a_form_does_not_know_the_tasks_of_the_other(fixture_server):
    legacy = Caller(fixture_server, wire.NEWEST_LEGACY)
    task = legacy.make("later", {"name": "a"})
    modern = Caller(fixture_server, wire.MODERN)
    with pytest.raises(RpcError) as caught:
        modern.get(task)
    assert caught.value.code == INVALID_PARAMS


def test_a_tool_that_is_never_a_task_answers_directly(modern):
    assert modern.call("echo", {"text": "a"})["resultType"] == "complete"


def test_another_connection_of_the_same_caller_finds_the_task():
    with Server(transport="unix", command=[FIXTURE]) as server:
        for revision in (wire.NEWEST_LEGACY, wire.MODERN):
            first = server.connect()
            task = Caller(first, revision).make("later", {"name": revision})
            first.close()
            again = Caller(server.connect(), revision)
            assert again.get(task)["status"] == "working"
            again.cancel(task)
            assert again.get(task)["status"] == "cancelled"


def test_a_server_that_ends_takes_its_tasks_with_it():
    for revision in (wire.NEWEST_LEGACY, wire.MODERN):
        with Server(command=[FIXTURE]) as server:
            caller = Caller(server, revision)
            caller.make("later", {"name": "a"})
            caller.make("later", {"name": "b", "ask": ["x"]})
            caller.release("b")


def test_there_is_a_limit_to_what_works_at_the_same_time(legacy):
    tasks = [legacy.make("later", {"name": str(i)}) for i in range(64)]
    with pytest.raises(RpcError, match="too many running tasks"):
        legacy.make("later", {"name": "more"})
    legacy.cancel(tasks[0])
    legacy.make("later", {"name": "more"})


# 2025-11-25


@pytest.mark.parametrize("fixture_server", ["stdio", "unix"], indirect=True)
def test_the_older_form_is_declared(fixture_server):
    result = fixture_server.request("initialize", {
        "protocolVersion": wire.NEWEST_LEGACY, "capabilities": {},
        "clientInfo": client.CLIENT_INFO})
    assert result["capabilities"]["tasks"] == {
        "list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    fixture_server.revision = wire.NEWEST_LEGACY
    support = {tool["name"]: tool.get("execution") for tool in fixture_server.list_tools()}
    assert support["later"] == {"taskSupport": "optional"}
    assert support["must"] == {"taskSupport": "required"}
    assert support["echo"] is None


@pytest.mark.parametrize("transport", ["tcp", "http"])
def test_callers_who_cannot_be_told_apart_get_no_list(transport):
    with Server(transport=transport, command=[FIXTURE]) as server:
        result = server.initialize()
        assert "list" not in result["capabilities"]["tasks"]
        with pytest.raises(RpcError) as caught:
            server.request("tasks/list")
        assert caught.value.code == METHOD_NOT_FOUND


@pytest.mark.parametrize("revision", client.REVISIONS[:3])
def test_older_revisions_have_no_tasks(fixture_server, revision):
    result = fixture_server.initialize(revision)
    assert "tasks" not in result["capabilities"]
    assert all("execution" not in tool for tool in fixture_server.list_tools())
    for method in ("tasks/get", "tasks/result", "tasks/cancel", "tasks/list", "tasks/update"):
        with pytest.raises(RpcError) as caught:
            fixture_server.request(method, {"taskId": "0" * 32})
        assert caught.value.code == METHOD_NOT_FOUND


def test_the_older_form_has_its_own_names(legacy):
    task = legacy.make("later", {"name": "a"}, ttl=60000)
    assert task["ttl"] == 60000 and task["pollInterval"] == 1000
    assert legacy.make("later", {"name": "b"})["ttl"] == 900000
    now = legacy.get(task)
    assert now["ttl"] == 60000 and "_meta" not in now


@pytest.mark.parametrize("task", [1, [], {"ttl": "long"}, {"ttl": -1}])
def test_what_is_wanted_of_a_task_must_make_sense(legacy, task):
    with pytest.raises(RpcError) as caught:
        legacy.call("later", {"name": "a"}, task=task)
    assert caught.value.code == INVALID_PARAMS


def test_a_tool_says_whether_it_is_a_task(legacy):
    for tool, arguments, more in (("echo", {"text": "a"}, {"task": {}}), ("must", {"end": "x"}, {})):
        with pytest.raises(RpcError) as caught:
            legacy.call(tool, arguments, **more)
        assert caught.value.code == METHOD_NOT_FOUND


def test_arguments_that_do_not_fit_are_a_failed_task(legacy):
    task = legacy.make("later", {"name": 1})
    assert legacy.get(task)["status"] == "failed"
    result = legacy.result(task)
    assert result["isError"] and "arguments do not fit" in texts(result)[0]


def test_a_result_waits_for_the_end_and_says_whose_it_is(legacy):
    task = legacy.make("later", {"name": "a"})
    first = legacy.start("tasks/result", {"taskId": task["taskId"]})
    second = legacy.start("tasks/result", {"taskId": task["taskId"]})
    legacy.release("a")
    for request in (first, second):
        result = legacy.connection.wait(request)["result"]
        assert result["_meta"] == {RELATED: {"taskId": task["taskId"]}}
        assert texts(result) == ["a"] and result["isError"] is False


def test_who_stops_waiting_is_not_answered_and_the_task_goes_on(legacy):
    task = legacy.make("later", {"name": "a"})
    waiting = legacy.start("tasks/result", {"taskId": task["taskId"]})
    legacy.connection.cancel(waiting)
    legacy.release("a")
    legacy.notified("notifications/tasks/status", 1)
    legacy.connection.assert_silent(0.2)
    assert texts(legacy.result(task)) == ["a"]


@pytest.mark.parametrize("end, status", [("text", "completed"), ("error", "failed"),
                                         ("protocol", "failed")])
def test_an_error_in_a_result_is_a_failure(legacy, end, status):
    task = legacy.make("must", {"end": end})
    assert legacy.get(task)["status"] == status
    if end == "protocol":
        with pytest.raises(RpcError) as caught:
            legacy.result(task)
        assert caught.value.code == -32603
        assert legacy.get(task)["statusMessage"] == "broken"
    else:
        assert legacy.result(task)["isError"] is (end == "error")


def test_what_is_over_cannot_be_cancelled(legacy):
    task = legacy.make("later", {"name": "a"})
    waiting = legacy.start("tasks/result", {"taskId": task["taskId"]})
    assert legacy.cancel(task)["status"] == "cancelled"
    assert "cancelled" in legacy.connection.wait(waiting)["error"]["message"]
    with pytest.raises(RpcError) as caught:
        legacy.cancel(task)
    assert caught.value.code == INVALID_PARAMS


def test_progress_goes_on_under_the_token_of_the_call(legacy):
    task = legacy.make("later", {"name": "a"}, _meta={"progressToken": "t"})
    legacy.release("a")
    told = legacy.notified("notifications/progress", 1)
    assert [(one["progressToken"], one["progress"], one["message"]) for one in told] == [
        ("t", 1, "released")]
    assert told[0]["_meta"] == {RELATED: {"taskId": task["taskId"]}}


def test_the_session_is_told_of_the_end(legacy):
    task = legacy.make("later", {"name": "a"})
    legacy.release("a")
    told = legacy.notified("notifications/tasks/status", 1)
    assert [(one["taskId"], one["status"]) for one in told] == [(task["taskId"], "completed")]


@pytest.mark.parametrize("fixture_server", ["stdio", "unix"], indirect=True)
def test_all_tasks_are_listed_in_pages(fixture_server):
    legacy = Caller(fixture_server, wire.NEWEST_LEGACY)
    made = [legacy.make("must", {"end": str(i)})["taskId"] for i in range(120)]
    first = legacy.request("tasks/list", {})
    second = legacy.request("tasks/list", {"cursor": first["nextCursor"]})
    assert [task["taskId"] for task in first["tasks"] + second["tasks"]] == made
    assert "nextCursor" not in second
    for cursor in ("x", "", "-1", "9" * 30, 1):
        with pytest.raises(RpcError) as caught:
            legacy.request("tasks/list", {"cursor": cursor})
        assert caught.value.code == INVALID_PARAMS


def question_of(connection):
    """The next request of the server; what else comes is kept."""
    while "id" not in (message := connection.receive()) or "method" not in message:
        connection.notifications.append(message)
    return message


def test_a_task_asks_on_the_stream_of_those_who_wait(legacy):
    task = legacy.make("later", {"name": "a", "ask": ["one", "two"]})
    legacy.release("a")
    assert legacy.get(task)["status"] == "input_required"
    waiting = legacy.start("tasks/result", {"taskId": task["taskId"]})
    asked = [question_of(legacy.connection) for _ in range(2)]
    assert [one["params"]["message"] for one in asked] == ["one", "two"]
    assert all(one["method"] == "elicitation/create" for one in asked)
    assert all(one["params"]["_meta"] == {RELATED: {"taskId": task["taskId"]}} for one in asked)
    legacy.answer(asked[0]["id"], accept("1"))
    assert legacy.get(task)["status"] == "input_required"
    legacy.answer(asked[1]["id"], accept("2"))
    answers = json.loads(texts(legacy.connection.wait(waiting)["result"])[0])
    assert answers == {"one": accept("1"), "two": accept("2")}


def test_what_was_asked_on_a_stream_that_ends_is_asked_on_the_next(legacy):
    task = legacy.make("later", {"name": "a", "ask": ["one", "two"]})
    first = legacy.start("tasks/result", {"taskId": task["taskId"]})
    second = legacy.start("tasks/result", {"taskId": task["taskId"]})
    legacy.release("a")
    asked = [message for message in legacy.connection.notifications if "id" in message]
    asked += [question_of(legacy.connection) for _ in range(2 - len(asked))]
    legacy.answer(asked[0]["id"], accept("1"))
    legacy.connection.cancel(first)
    again = question_of(legacy.connection)
    assert again["params"]["message"] == "two" and again["id"] != asked[1]["id"]
    withdrawn = [message["params"]["requestId"] for message in legacy.connection.notifications
                 if message["method"] == "notifications/cancelled"]
    assert withdrawn == [asked[1]["id"]]
    legacy.answer(again["id"], accept("2"))
    answers = json.loads(texts(legacy.connection.wait(second)["result"])[0])
    assert answers == {"one": accept("1"), "two": accept("2")}


def test_a_client_that_cannot_be_asked_fails_the_task(fixture_server):
    legacy = Caller(fixture_server, wire.NEWEST_LEGACY, capabilities={})
    task = legacy.make("later", {"name": "a", "ask": ["one"]})
    legacy.release("a")
    assert legacy.get(task)["status"] == "failed"
    assert "elicitation" in texts(legacy.result(task))[0]


# The extension of 2026-07-28


def test_the_extension_is_declared(modern):
    assert modern.request("server/discover", {})["capabilities"]["extensions"] == {EXTENSION: {}}
    assert "tasks" not in modern.request("server/discover", {})["capabilities"]
    assert all("execution" not in tool for tool in modern.request("tools/list", {})["tools"])


def test_the_extension_has_its_own_names(modern):
    task = modern.make("later", {"name": "a"})
    assert task["ttlMs"] == 900000 and task["pollIntervalMs"] == 1000


def test_what_the_older_form_has_is_unknown_or_ignored(modern):
    assert modern.call("echo", {"text": "a"}, task={"ttl": 1})["resultType"] == "complete"
    for method in ("tasks/result", "tasks/list"):
        with pytest.raises(RpcError) as caught:
            modern.request(method, {"taskId": "0" * 32})
        assert caught.value.code == METHOD_NOT_FOUND


def test_without_the_extension_a_call_waits(fixture_server):
    modern = Caller(fixture_server, wire.MODERN, capabilities={})
    waiting = modern.start("tools/call", {"name": "later", "arguments": {"name": "a"}})
    modern.release("a")
    assert texts(modern.connection.wait(waiting)["result"]) == ["a"]


@pytest.mark.parametrize("method, params", [
    ("tasks/get", {"taskId": "0" * 32}), ("tasks/cancel", {"taskId": "0" * 32}),
    ("tasks/update", {"taskId": "0" * 32, "inputResponses": {}}),
    ("tools/call", {"name": "must", "arguments": {"end": "text"}})])
def test_without_the_extension_there_are_no_tasks(fixture_server, method, params):
    modern = Caller(fixture_server, wire.MODERN, capabilities={})
    with pytest.raises(RpcError) as caught:
        modern.request(method, params)
    assert caught.value.code == MISSING_CAPABILITY
    assert caught.value.data == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}


@pytest.mark.parametrize("end, status", [("text", "completed"), ("error", "completed"),
                                         ("protocol", "failed")])
def test_only_an_error_of_the_protocol_is_a_failure(modern, end, status):
    task = modern.make("must", {"end": end})
    assert task["status"] == "working"
    now = modern.get(task)
    assert now["status"] == status
    if end == "protocol":
        assert now["error"] == {"code": -32603, "message": "Internal error: broken"}
        assert now["statusMessage"] == "broken"
    else:
        assert now["result"]["isError"] is (end == "error")
        assert RELATED not in now["result"]["_meta"]


def test_arguments_that_do_not_fit_are_answered_directly(modern):
    assert modern.call("must", {"end": 1})["isError"] is True


def test_cancelling_is_always_acknowledged(modern):
    task = modern.make("later", {"name": "a"})
    modern.release("a")
    modern.cancel(task)
    assert modern.get(task)["status"] == "completed"


def test_a_task_asks_by_what_it_is(modern):
    task = modern.make("later", {"name": "a", "ask": ["one", "two"]})
    modern.release("a")
    asked = modern.get(task)
    assert asked["status"] == "input_required"
    assert list(asked["inputRequests"]) == ["one", "two"]
    assert asked["inputRequests"]["one"]["method"] == "elicitation/create"
    update = {"taskId": task["taskId"]}
    modern.request("tasks/update", {**update, "inputResponses": {"three": accept("3")}})
    assert modern.get(task) == asked
    modern.request("tasks/update", {**update, "inputResponses": {"one": accept("1")}})
    assert list(modern.get(task)["inputRequests"]) == ["two"]
    modern.request("tasks/update", {**update, "inputResponses": {"one": accept("x"),
                                                                 "two": accept("2")}})
    answers = json.loads(texts(modern.result(task))[0])
    assert answers == {"one": accept("1"), "two": accept("2")}
    modern.request("tasks/update", {**update, "inputResponses": {"two": accept("x")}})


def test_a_key_is_used_once(modern):
    task = modern.make("later", {"name": "a", "ask": ["again"]})
    modern.release("a")
    update = {"taskId": task["taskId"]}
    modern.request("tasks/update", {**update, "inputResponses": {"again": accept("1")}})
    (key,) = modern.get(task)["inputRequests"]
    assert key != "again"
    modern.request("tasks/update", {**update, "inputResponses": {"again": accept("x")}})
    assert modern.get(task)["status"] == "input_required"
    modern.request("tasks/update", {**update, "inputResponses": {key: accept("2")}})
    assert json.loads(texts(modern.result(task))[0]) == {"again": accept("2")}


def test_what_is_asked_before_there_is_a_task_is_asked_in_rounds(modern):
    first = modern.call("before", {"name": "a", "ask": ["one"]})
    assert first["resultType"] == "input_required"
    task = modern.make("before", {"name": "a", "ask": ["one"]},
                       requestState=first["requestState"],
                       inputResponses={"one": accept("1")})
    modern.release("a")
    assert json.loads(texts(modern.result(task))[0]) == {"one": accept("1")}


def test_a_task_that_asks_can_be_cancelled(modern):
    task = modern.make("later", {"name": "a", "ask": ["one"]})
    modern.release("a")
    modern.cancel(task)
    assert modern.get(task)["status"] == "cancelled"


def test_a_task_tells_nothing_on_the_stream_of_its_call(modern):
    modern.make("later", {"name": "a"}, _meta={"progressToken": "t"})
    modern.release("a")
    assert modern.connection.notifications == []


@pytest.mark.parametrize("answers", [None, [], "one"])
def test_answers_must_be_an_object(modern, answers):
    task = modern.make("later", {"name": "a"})
    with pytest.raises(RpcError) as caught:
        modern.request("tasks/update", {"taskId": task["taskId"], "inputResponses": answers})
    assert caught.value.code == INVALID_PARAMS


def listen(modern, *ids):
    return modern.start("subscriptions/listen", {"notifications": {"taskIds": list(ids)}})


def test_who_listens_to_a_task_is_told_what_becomes_of_it(modern):
    task = modern.make("later", {"name": "a", "ask": ["one"]})
    request = listen(modern, task["taskId"], "0" * 32)
    (acknowledged,) = modern.notified("notifications/subscriptions/acknowledged", 1)
    assert acknowledged["notifications"] == {"taskIds": [task["taskId"]]}
    modern.release("a")
    told = modern.notified("notifications/tasks", 1)
    assert told[0]["status"] == "input_required" and list(told[0]["inputRequests"]) == ["one"]
    modern.request("tasks/update", {"taskId": task["taskId"],
                                    "inputResponses": {"one": accept("1")}})
    told = modern.notified("notifications/tasks", 2)
    assert told[1].pop("_meta") == {PREFIX + "subscriptionId": request}
    now = modern.get(task)
    assert told[1] == {key: now[key] for key in now if key not in ("resultType", "_meta")}
    assert now["status"] == "completed"


def test_who_listens_too_late_is_told_at_once(modern):
    task = modern.make("must", {"end": "text"})
    listen(modern, task["taskId"])
    assert modern.notified("notifications/tasks", 1)[0]["status"] == "completed"


def test_listening_to_tasks_needs_the_extension(fixture_server):
    modern = Caller(fixture_server, wire.MODERN, capabilities={})
    with pytest.raises(RpcError) as caught:
        modern.request("subscriptions/listen", {"notifications": {"taskIds": []}})
    assert caught.value.code == MISSING_CAPABILITY
    assert caught.value.data == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}


@pytest.mark.parametrize("ids", ["one", [1], {}])
def test_what_is_listened_to_must_be_a_list_of_ids(modern, ids):
    with pytest.raises(RpcError) as caught:
        modern.request("subscriptions/listen", {"notifications": {"taskIds": ids}})
    assert caught.value.code == INVALID_PARAMS


# Whose they are


@pytest.mark.once
@pytest.mark.parametrize("revision", [wire.NEWEST_LEGACY, wire.MODERN])
def test_a_task_of_somebody_else_is_unknown(revision, tmp_path):
    tokens = {name: name * 8 for name in ("alice", "bob")}
    path = tmp_path / "tokens"
    path.write_text("".join(f"{name} sha256:{hashlib.sha256(token.encode()).hexdigest()}\n"
                            for name, token in tokens.items()))
    path.chmod(0o600)

    def caller(server, name):
        server.token = tokens[name]
        return Caller(server.connect(), revision)

    with Server(transport="http", config={"token_file": str(path)}) as server:
        alice, bob = caller(server, "alice"), caller(server, "bob")
        task = alice.make("run_python", {"code": LONG})
        for method in ("tasks/get", "tasks/cancel"):
            with pytest.raises(RpcError) as caught:
                bob.request(method, {"taskId": task["taskId"]})
            assert caught.value.code == INVALID_PARAMS
        if not alice.is_modern:
            assert bob.request("tasks/list", {}) == {"tasks": []}
            assert len(alice.request("tasks/list", {})["tasks"]) == 1
        assert caller(server, "alice").get(task)["status"] == "working"
        assert alice.result(task)["structuredContent"]["success"] is True


# Time to live


@pytest.mark.once
def test_a_task_is_kept_for_its_time_and_no_longer(legacy):
    began = time.monotonic()
    task = legacy.make("must", {"end": "text"}, ttl=5000)
    assert texts(legacy.result(task)) == ["text"]
    with pytest.raises(RpcError) as caught:
        legacy.wait(task, statuses=())
    assert caught.value.code == INVALID_PARAMS
    assert time.monotonic() - began >= 5


@pytest.mark.once
def test_work_that_takes_longer_is_not_ended(legacy):
    task = legacy.make("later", {"name": "a"}, ttl=1000)
    time.sleep(2)
    now = legacy.get(task)
    assert now["status"] == "working" and now["ttl"] > 2000
    legacy.release("a")
    assert texts(legacy.result(task)) == ["a"]


@pytest.mark.once
def test_what_nobody_answers_ends_with_its_time(legacy):
    task = legacy.make("later", {"name": "a", "ask": ["one"]}, ttl=5000)
    legacy.release("a")
    waiting = legacy.start("tasks/result", {"taskId": task["taskId"]})
    question_of(legacy.connection)
    assert "error" in legacy.connection.wait(waiting)
    with pytest.raises(RpcError):
        legacy.get(task)


@pytest.mark.plain
def test_two_hundred_tasks_that_nobody_collects_leave_nothing():
    with Server(command=[FIXTURE]) as server:
        legacy = Caller(server, wire.NEWEST_LEGACY)

        def make_all():
            for i in range(200):
                legacy.make("must", {"end": "x" * 20000}, ttl=2000)  # so that all are there at a time
            assert len(legacy.request("tasks/list", {})["tasks"]) > 0
            assert leftovers.until(lambda: legacy.request("tasks/list", {}) == {"tasks": []})

        make_all()
        before = leftovers.status_kib(server.process.pid, "VmRSS")
        for _ in range(3):
            make_all()
        gained = leftovers.status_kib(server.process.pid, "VmRSS") - before
        assert leftovers.sanitized() or gained < 6000, gained  # KiB; they had 12,000


# run_python

LONG = """
import time
print("begun", flush=True)
time.sleep(6)
print("over")
"""


@pytest.mark.once
@pytest.mark.parametrize("revision", [wire.NEWEST_LEGACY, wire.MODERN])
def test_a_run_that_takes_long_is_a_task(revision):
    with Server() as server:
        caller = Caller(server, revision)
        began = time.monotonic()
        task = caller.make("run_python", {"code": LONG})
        attached = time.monotonic() - began
        assert not caller.is_modern or attached > 1.9
        assert task["status"] == "working"
        assert leftovers.until(lambda: caller.get(task).get("statusMessage") == "begun")
        result = caller.result(task)
        assert result["structuredContent"]["stdout"] == "begun\nover\n"
        assert caller.get(task)["status"] == "completed"


@pytest.mark.once
def test_arguments_of_a_task_are_read_as_they_are_meant():
    with Server() as server:
        caller = Caller(server, wire.NEWEST_LEGACY)
        files = json.dumps([{"path": "a.txt", "text": "text"}])
        task = caller.make("run_python", {"code": "print(open('a.txt').read())", "timeout": "60", "environment": "", "files": files})
        assert caller.result(task)["structuredContent"]["stdout"] == "text\n"


def test_a_short_run_is_answered_directly():
    with Server() as server:
        modern = Caller(server, wire.MODERN)
        assert leftovers.until(  # the first one may take long on a busy machine
            lambda: modern.call("run_python", {"code": "print(1)"})["resultType"] == "complete")


@pytest.mark.once
@pytest.mark.parametrize("transport", ["unix", "http"])
@pytest.mark.parametrize("revision", [wire.NEWEST_LEGACY, wire.MODERN])
def test_a_run_is_found_again_after_the_connection_was_lost(revision, transport):
    with Server(transport=transport) as server:
        first = server.connect()
        task = Caller(first, revision).make("run_python", {"code": LONG})
        first.close()
        caller = Caller(server.connect(), revision)
        assert caller.get(task)["status"] == "working"
        assert caller.result(task)["structuredContent"]["stdout"] == "begun\nover\n"


@pytest.mark.parametrize("revision", [wire.NEWEST_LEGACY, wire.MODERN])
def test_cancelling_the_task_kills_the_run(revision, tmp_path):
    with Server(config={"working_directory": str(tmp_path)}) as server:
        caller = Caller(server, revision)
        task = caller.make("run_python", {"code": HEARTBEAT})
        assert leftovers.until(lambda: (tmp_path / "beat").exists())
        cancelled = time.time()
        caller.cancel(task)
        assert last_beat(tmp_path) - cancelled < KILL_SECONDS
        assert caller.get(task)["status"] == "cancelled"


@pytest.mark.parametrize("revision", [wire.NEWEST_LEGACY, wire.MODERN])
def test_a_run_that_is_a_task_ends_with_the_server(revision, tmp_path):
    with Server(config={"working_directory": str(tmp_path)}) as server:
        Caller(server, revision).make("run_python", {"code": HEARTBEAT})
        assert leftovers.until(lambda: (tmp_path / "beat").exists())
    ended = time.time()
    assert last_beat(tmp_path) < ended


def test_a_full_queue_is_what_the_task_ends_with():
    limits = {"concurrent_runs": 1, "queued_runs": 1}
    with Server(config={"limits": limits}) as server:
        legacy = Caller(server, wire.NEWEST_LEGACY)
        tasks = [legacy.make("run_python", {"code": LONG}) for _ in range(3)]
        result = legacy.result(tasks[2])
        assert result["isError"] and "try again" in texts(result)[0]
        for task in tasks[:2]:
            legacy.cancel(task)
