"""A person agrees to a run, or not, in every revision that can ask one; and who cannot be asked is
refused. What was shown is what runs, once."""

import contextlib
import hashlib
import json

import pytest

import client
import wire
from test_reload import reload, serve
from test_tasks import Caller

ASKING = ["2025-06-18", "2025-11-25", wire.MODERN]
OLDER = ["2024-11-05", "2025-03-26"]
ELICITATION = {"elicitation": {}}
KEY = "approve_run"
ACCEPT = {"action": "accept", "content": {"approve": "yes"}}
DECLINED = "The user declined to run this code."


class Person:
    """Calls run_python over SERVER and answers its questions, however the revision carries them."""

    def __init__(self, server, revision):
        self.server = server
        self.is_modern = revision == wire.MODERN

    def question(self, request_id):
        """The next question, or None and the response to REQUEST_ID."""
        if self.is_modern:
            response = self.server.wait(request_id)
            asked = response.get("result", {}).get("inputRequests", {}).get(KEY)
            return asked, response
        while True:
            message = self.server.receive()
            if "method" not in message:
                return None, message
            if "id" in message:
                return message, None

    def answer(self, arguments, question, response, answer):
        """Answers, and returns the id of the request whose response is waited for."""
        if self.is_modern:
            return self.server.start_request("tools/call", {
                "name": "run_python", "arguments": arguments, "inputResponses": {KEY: answer},
                "requestState": response["result"]["requestState"]})
        self.server.send({"jsonrpc": "2.0", "id": question["id"], "result": answer})
        return None

    def call(self, arguments, *answers):
        """The result of a call whose questions get ANSWERS, and the questions' params."""
        request_id = self.server.start_tool("run_python", arguments)
        asked = []
        for answer in answers:
            question, response = self.question(request_id)
            assert question, f"nothing was asked: {response}"
            assert question["method"] == "elicitation/create"
            asked.append(question["params"])
            request_id = self.answer(arguments, question, response, answer) or request_id
        question, response = self.question(request_id)
        assert not question, "one question more than there are answers"
        return response["result"], asked


@contextlib.contextmanager
def person(revision=wire.MODERN, approval="always", transport="stdio", **more):
    with client.Server(transport=transport, config={"approval": approval, **more}) as server:
        server.initialize(revision, ELICITATION)
        yield Person(server, revision)


def text(result):
    return "".join(block["text"] for block in result["content"])


def test_a_person_is_told_which_session_the_code_goes_on_in():
    with person(sessions={}) as someone:
        result, (asked,) = someone.call({"code": "x = 1", "session": "new"}, ACCEPT)
        assert "\n- Session: a new one, whose variables live on\n" in asked["message"]
        name = result["structuredContent"]["session"]["name"]
        result, (asked,) = someone.call({"code": "print(x)", "session": name}, ACCEPT)
        assert result["structuredContent"]["stdout"] == "1\n"
        assert f"\n- Session: {name}, begun 20" in asked["message"]
        _, (asked,) = someone.call({"code": "print(x)", "fork": name}, {"action": "decline"})
        assert f"\n- Session: a copy of {name}, begun 20" in asked["message"]
        _, (asked,) = someone.call({"code": "pass"}, ACCEPT)
        assert "Session" not in asked["message"]


@pytest.mark.parametrize("revision", ASKING)
def test_what_is_forbidden_while_a_person_is_asked_does_not_run(revision, tmp_path):
    asking = {"approval": "always", "working_directory": str(tmp_path)}
    arguments = {"code": "open('ran', 'w')", "environment_definition": {"type": "system"}}
    with serve({**asking, "callers": {"define_environments": True}}) as server:
        server.initialize(revision, ELICITATION)
        someone = Person(server, revision)
        call = server.start_tool("run_python", arguments)
        question, response = someone.question(call)
        reload(server, {**asking, "callers": {"define_environments": False}})
        _, response = someone.question(someone.answer(arguments, question, response, ACCEPT) or call)
        assert "error" in response or response["result"]["isError"], response
        assert server.find_tool()["name"] == "run_python" and not (tmp_path / "ran").exists()


def test_code_blocks_that_are_forbidden_while_a_person_is_asked_do_not_run(tmp_path):
    asking = {"approval": "always", "working_directory": str(tmp_path)}
    with serve({**asking, "code_blocks": {}}) as server:
        server.initialize("2025-11-25", ELICITATION)
        call = server.start_tool("run_code_blocks", {"blocks": [{"language": "python", "code": "open('ran', 'w')"}]})
        question, _ = Person(server, "2025-11-25").question(call)
        reload(server, asking)
        server.send({"jsonrpc": "2.0", "id": question["id"], "result": ACCEPT})
        assert "runs no code blocks" in str(server.wait(call))
        assert server.find_tool()["name"] == "run_python" and not (tmp_path / "ran").exists()


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("revision", ASKING)
def test_the_code_runs_when_it_is_accepted(revision, transport):
    code = "import sys\nprint(6 * 7)\n"
    with person(revision, transport=transport) as someone:
        result, (asked,) = someone.call({"code": code}, ACCEPT)
    assert result["structuredContent"]["stdout"] == "42\n"
    assert "    1 | import sys\n    2 | print(6 * 7)\n" in asked["message"]
    assert hashlib.sha256(code.encode()).hexdigest() in asked["message"]
    assert "Environment: system" in asked["message"]
    assert "Isolation: " in asked["message"]
    assert "30 seconds" in asked["message"]
    assert "Answer yes or no." in asked["message"].splitlines()[0]
    fields = asked["requestedSchema"]["properties"]
    assert list(fields) == ["approve"] == asked["requestedSchema"]["required"]
    values = fields["approve"].get("enum") or [each["const"] for each in fields["approve"]["oneOf"]]
    assert fields["approve"]["type"] == "string" and values == ["no", "yes"]


@pytest.mark.parametrize("revision", ASKING)
@pytest.mark.parametrize("answer, words", [
    ({"action": "decline"}, DECLINED),
    ({"action": "accept", "content": {"approve": "no"}}, DECLINED),
    ({"action": "accept", "content": {"approve": "No, use the test data"}},
     f"{DECLINED} The reason given: use the test data"),
    ({"action": "cancel"}, "No decision was made about running this code; ask again later."),
])
def test_the_code_does_not_run_otherwise(revision, answer, words, tmp_path):
    with person(revision, working_directory=str(tmp_path)) as someone:
        result, _ = someone.call({"code": "open('made', 'w')"}, answer)
    assert result["isError"] and text(result) == words
    assert "structuredContent" not in result
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("revision", ASKING)
def test_an_answer_of_another_type_is_asked_for_again_but_not_for_ever(revision):
    odd = [{"action": "accept", "content": {"approve": "yes, if it is safe"}}, {"action": "accept"},
           {"action": "accept", "content": {"approve": True}}]
    with person(revision) as someone:
        result, asked = someone.call({"code": "print(1)"}, odd[0], ACCEPT)
        assert result["structuredContent"]["success"]
        assert asked[0] == asked[1]
        result, _ = someone.call({"code": "print(1)"}, *odd)
    assert result["isError"] and "did not run" in text(result)


def test_without_an_answer_of_its_own_a_round_runs_nothing():
    """What was answered to a question is no answer to the next."""
    with person() as someone:
        server = someone.server
        call = {"name": "run_python", "arguments": {"code": "print(1)"}}
        state = server.request("tools/call", call)["requestState"]
        for _ in range(2):
            result = server.request("tools/call", {**call, "requestState": state})
            assert result["resultType"] == "input_required"
            state = result["requestState"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("revision", OLDER)
def test_older_clients_are_refused_and_told_why(revision, transport, tmp_path):
    config = {"approval": "always", "working_directory": str(tmp_path)}
    with client.Server(transport=transport, config=config) as server:
        server.initialize(revision, ELICITATION)
        result = server.call_tool("run_python", {"code": "open('made', 'w')"})
    assert result["isError"]
    assert "a person has to be asked, but this client does not declare" in text(result)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}])
def test_a_client_that_cannot_ask_is_refused(capabilities):
    with client.Server(config={"approval": "always"}) as server:
        server.initialize("2025-11-25", capabilities)
        result = server.call_tool("run_python", {"code": "print(1)"})
        assert result["isError"] and "a person has to be asked" in text(result)
    with client.Server(config={"approval": "always"}) as server:
        server.initialize(wire.MODERN, capabilities)
        with pytest.raises(client.RpcError) as refused:
            server.call_tool("run_python", {"code": "print(1)"})
        assert refused.value.code == -32021
        assert refused.value.data == {"requiredCapabilities": {"elicitation": {}}}


def test_an_error_of_the_client_runs_nothing():
    with person("2025-11-25") as someone:
        request_id = someone.server.start_tool("run_python", {"code": "print(1)"})
        question = someone.server.receive()
        someone.server.send({"jsonrpc": "2.0", "id": question["id"],
                             "error": {"code": -1, "message": "closed"}})
        result = someone.server.wait(request_id)["result"]
    assert result["isError"] and "could not be asked" in text(result)


def test_the_question_goes_with_its_call():
    with person("2025-11-25") as someone:
        request_id = someone.server.start_tool("run_python", {"code": "print(1)"})
        question = someone.server.receive()
        someone.server.cancel(request_id)
        withdrawn = someone.server.receive()
        assert withdrawn["method"] == "notifications/cancelled"
        assert withdrawn["params"]["requestId"] == question["id"]
        someone.server.send({"jsonrpc": "2.0", "id": question["id"], "result": ACCEPT})
        someone.server.assert_silent(0.5)


# Tasks


def test_a_run_that_becomes_a_task_is_approved_before():
    with client.Server(config={"approval": "always"}) as server:
        caller = Caller(server, wire.MODERN)
        arguments = {"code": "import time; time.sleep(3); print(42)"}
        asked = caller.call("run_python", arguments)
        assert asked["resultType"] == "input_required"
        task = caller.make("run_python", arguments, requestState=asked["requestState"],
                           inputResponses={KEY: ACCEPT})
        assert caller.result(task)["structuredContent"]["stdout"] == "42\n"


@pytest.mark.parametrize("answer, status, said", [
    (ACCEPT, "completed", "42"), ({"action": "decline"}, "failed", DECLINED)])
def test_a_run_that_is_a_task_from_the_start_waits_for_the_approval(answer, status, said):
    """In 2025-11-25, where the client wants the task, it is asked by whom it lets wait for the end."""
    with client.Server(config={"approval": "always"}) as server:
        caller = Caller(server, "2025-11-25")
        task = caller.make("run_python", {"code": "print(42)"})
        caller.wait(task, {"input_required"})
        waiting = caller.start("tasks/result", {"taskId": task["taskId"]})
        while (question := server.receive())["method"] != "elicitation/create":
            pass
        caller.answer(question["id"], answer)
        assert said in text(server.wait(waiting)["result"])
        assert caller.get(task)["status"] == status


# What a client could try


def answered(server, call, state):
    return server.request("tools/call", {**call, "requestState": state,
                                         "inputResponses": {KEY: ACCEPT}})


def refused_state(server, call, state):
    with pytest.raises(client.RpcError) as refused:
        answered(server, call, state)
    assert refused.value.code == -32602


def test_what_was_approved_is_what_runs_once():
    call = {"name": "run_python", "arguments": {"code": "print(1)"}}
    other = {"name": "run_python", "arguments": {"code": "print(2)"}}
    with person() as someone:
        server = someone.server
        state = server.request("tools/call", call)["requestState"]
        refused_state(server, other, state)
        refused_state(server, {**call, "arguments": {**call["arguments"], "timeout": 60}}, state)
        refused_state(server, call, state[:-2] + ("AA" if state[-2:] != "AA" else "BB"))
        assert answered(server, call, state)["structuredContent"]["stdout"] == "1\n"
        refused_state(server, call, state)


def test_an_approval_that_nobody_was_asked_for_counts_for_nothing():
    with person() as someone:
        result = someone.server.request("tools/call", {
            "name": "run_python", "arguments": {"code": "print(1)"}, "inputResponses": {KEY: ACCEPT}})
    assert result["resultType"] == "input_required"


@pytest.mark.parametrize("changes", [{"timeout": 7}, {"prepare_timeout": 77}], ids=["shown", "not shown"])
@pytest.mark.parametrize("revision", ["2025-11-25", wire.MODERN])
def test_a_yes_does_not_count_for_another_configuration(revision, changes):
    """The environment has changed between the question and its answer: it is asked again, and an
    answer to the first question, brought along once more, is no answer to the second."""
    config = {"approval": "always", "environments": {"system": {"type": "system"}}}
    changed = {"approval": "always", "environments": {"system": {"type": "system", **changes}}}
    with serve(config) as server:
        server.initialize(revision, ELICITATION)
        someone = Person(server, revision)
        arguments = {"code": "print(1)"}
        request_id = server.start_tool("run_python", arguments)
        question, response = someone.question(request_id)
        reload(server, changed)
        request_id = someone.answer(arguments, question, response, ACCEPT) or request_id
        question, response = someone.question(request_id)
        assert "7 seconds" in question["params"]["message"] or "timeout" not in changes
        assert "configured anew while you were asked" in question["params"]["message"]
        if revision == wire.MODERN:
            result = server.request("tools/call", {
                "name": "run_python", "arguments": arguments,
                "requestState": response["result"]["requestState"]})
            assert result["resultType"] == "input_required"
            return
        someone.answer(arguments, question, response, ACCEPT)
        assert server.wait(request_id)["result"]["structuredContent"]["stdout"] == "1\n"


def test_first_asks_again_when_the_environment_has_changed():
    config = {"approval": "first", "environments": {"system": {"type": "system"}}}
    with serve(config) as server:
        server.initialize("2025-11-25", ELICITATION)
        someone = Person(server, "2025-11-25")
        someone.call({"code": "print(1)"}, ACCEPT)
        reload(server, {**config, "keep_for": 60})
        someone.call({"code": "print(1)"})
        reload(server, {**config, "timeout": 7})
        someone.call({"code": "print(1)"}, ACCEPT)


# What asks when


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("revision", ASKING)
def test_first_asks_once_for_each_environment(revision, transport):
    """Over HTTP, where requests stand alone, a principal is who has agreed."""
    environments = {"system": {"type": "system"}, "other": {"type": "system", "timeout": 20}}
    with person(revision, "first", transport, environments=environments) as someone:
        _, (asked,) = someone.call({"code": "print(1)"}, ACCEPT)
        assert "later calls of this client in this environment run without" in asked["message"]
        someone.call({"code": "print(2)"})
        someone.call({"code": "print(3)", "environment": "other"}, ACCEPT)
        someone.call({"code": "print(4)", "environment": "other"})
        someone.call({"code": "print(5)"})


def test_the_log_says_what_was_decided():
    with serve({"approval": "always"}) as server:
        server.initialize(wire.MODERN, ELICITATION)
        someone = Person(server, wire.MODERN)
        someone.call({"code": "print(1)"}, {"action": "decline"})
        someone.call({"code": "print(2)"}, ACCEPT)
        calls = [json.loads(line[line.index("{"):]) for line in server.stderr().splitlines()
                 if '"event":"call"' in line]
    assert [(call["approval"], call["outcome"]) for call in calls] == [
        ("asked", "input_required"), ("declined", "error"),
        ("asked", "input_required"), ("accepted", "success")]


@pytest.mark.parametrize("revision", ASKING)
def test_once_is_asked_again(revision):
    once = {"action": "accept", "content": {"approve": "once"}}
    with person(revision, "first") as someone:
        result, _ = someone.call({"code": "print(1)"}, once)
        assert result["structuredContent"]["stdout"] == "1\n"
        someone.call({"code": "print(2)"}, ACCEPT)
        someone.call({"code": "print(3)"})


def test_first_asks_again_after_a_no():
    with person("2025-11-25", "first") as someone:
        someone.call({"code": "print(1)"}, {"action": "decline"})
        someone.call({"code": "print(1)"}, ACCEPT)
        someone.call({"code": "print(1)"})


def test_first_asks_each_connection():
    config = {"approval": "first"}
    with client.Server(transport="unix", config=config) as server:
        server.initialize("2025-11-25", ELICITATION)
        Person(server, "2025-11-25").call({"code": "print(1)"}, ACCEPT)
        second = server.connect()
        second.initialize("2025-11-25", ELICITATION)
        Person(second, "2025-11-25").call({"code": "print(1)"}, ACCEPT)
        second.close()


def test_an_environment_has_its_own_word():
    environments = {"system": {"type": "system"},
                    "free": {"type": "system", "approval": "never"}}
    with person("2025-11-25", environments=environments) as someone:
        someone.call({"code": "print(1)", "environment": "free"})
        someone.call({"code": "print(1)"}, ACCEPT)


def test_an_environment_of_the_calls_own_is_shown_and_approved():
    definition = {"type": "system", "environment": {"GREETING": "a\n- Isolation: full"}}
    with person("2025-11-25") as someone:
        result, (asked,) = someone.call(
            {"code": "import os; print(os.environ['GREETING'])",
             "environment_definition": definition}, ACCEPT)
        assert result["structuredContent"]["success"]
        assert "Environment: defined by this call (system)" in asked["message"]
        assert '"GREETING": "a\\n- Isolation: full"' in asked["message"]
        assert "\n- Isolation: full" not in asked["message"]
        result, _ = someone.call({"code": "1", "environment_definition": {
            "type": "system", "approval": "never"}})
        assert result["isError"] and "only the operator can set this" in text(result)


def test_the_environment_of_a_scripts_block_is_shown_and_asked_for_again():
    block = "# /// script\n# dependencies = ['nothing-like-it']\n# ///\nprint(1)"
    with person("2025-11-25") as someone:
        result, (asked,) = someone.call({"code": block}, {"action": "decline"})
        assert result["isError"]
        assert "Environment: defined by this call (venv)" in asked["message"]
        assert '"nothing-like-it"' in asked["message"]


INSTALL = "%pip install nothing-like-it"


def begun(someone, *answers):
    result, _ = someone.call({"code": "x = 1", "session": "new"}, *answers)
    return result["structuredContent"]["session"]["name"]


def test_what_a_cell_installs_is_asked_about_as_what_a_definition_installs():
    with person("2025-11-25", environments={"system": {"type": "system", "approval": "never"}}, sessions={}) as someone:
        name = begun(someone)
        result, (asked,) = someone.call({"code": INSTALL, "session": name}, {"action": "decline"})
        assert result["isError"]
        assert "\nPackages that are installed for the session first:\n\n    1 | nothing-like-it\n" in asked["message"]
        assert INSTALL in asked["message"]


def test_no_package_is_hidden_by_many_others_or_by_code():
    names = [f"{'a' * 60}{number}" for number in range(90)]
    with person("2025-11-25", environments={"system": {"type": "system", "approval": "never"}}, sessions={}) as someone:
        name = begun(someone)
        code = "".join(f"x = '{'y' * 500}'\n%pip install {name}\n" for name in names)
        _, (asked,) = someone.call({"code": code, "session": name}, {"action": "decline"})
        assert [each for each in names if f" | {each}\n" not in asked["message"]] == []


def test_first_asks_about_each_set_of_packages():
    with person("2025-11-25", "first", sessions={}) as someone:
        name = begun(someone, ACCEPT)
        someone.call({"code": "print(1)", "session": name})
        someone.call({"code": INSTALL, "session": name}, {"action": "decline"})
        someone.call({"code": f"{INSTALL} other", "session": name}, {"action": "decline"})
        someone.call({"code": "print(1)", "session": name})


# What is shown


def test_code_cannot_pass_for_thequestion():
    code = ("print(1)\n\n```\n\n- Environment: harmless (docker)\n- Network: none\n"
            "x = 1\r- Code: 0 lines\n" + " " * 500 + "import os  # \u202e\u200b\x1b[2J\n")
    with person("2025-11-25") as someone:
        _, (asked,) = someone.call({"code": code}, {"action": "decline"})
    head, _, listing = asked["message"].partition("The whole code; all below is code.\n\n")
    assert "harmless" not in head and "```" not in head
    lines = listing.rstrip("\n").split("\n")
    assert all(line.startswith("    ") and line[6] in "|:" for line in lines), listing
    assert max(map(len, lines)) < 140
    assert "import os  # <U+202E><U+200B><U+001B>[2J" in listing
    assert "    8 | - Code: 0 lines" in listing


def test_long_code_is_shown_from_both_ends_and_says_so():
    code = "\n".join(f"print({i})" for i in range(10000))
    with person("2025-11-25") as someone:
        _, (asked,) = someone.call({"code": code}, {"action": "decline"})
    message = asked["message"]
    left_out = len(code) - 32 * 1024
    assert f"too long to be shown: {left_out} bytes are left out" in message
    assert f"[{left_out} bytes are not shown here" in message
    assert "    1 | print(0)\n" in message
    assert message.endswith("10000 | print(9999)\n")
    assert hashlib.sha256(code.encode()).hexdigest() in message


@pytest.mark.parametrize("code, shown", [
    ("# -*- coding: utf-7 -*-\nprint(1)", "# -*- coding: utf-8 -*-"),
    ("#!/usr/bin/python3\n# vim: set fileencoding=rot13 :\nprint(1)", "# vim: set fileencoding=utf-8 :"),
])
def test_code_runs_in_the_encoding_that_it_is_shown_in(code, shown):
    with person("2025-11-25") as someone:
        _, (asked,) = someone.call({"code": code}, {"action": "decline"})
    assert shown in asked["message"]
