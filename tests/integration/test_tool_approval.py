"""A script calls a tool that a person has to approve: the user of the client is asked while the script waits, or the call
is Denied. What was shown is what is sent, once."""

import contextlib
import json
import time

import pytest

import client
import leftovers
import wire
from sessions import call
from test_script_tools import TOOLS, UPSTREAM, serve
from test_tasks import Caller

ASKING = ["2025-06-18", "2025-11-25"]
ELICITATION = {"elicitation": {}}
TRY = """
import tools
def attempt(text="x", **more):
    try:
        return tools.test.write(text=text, **more)
    except tools.ToolError as error:
        return f"{type(error).__name__}: {error}"
"""


def accept(word):
    return {"action": "accept", "content": {"approve": word}}


def run(server, code, *answers, patience=60, **more):
    """The result of a call, and the params of the questions, which get ANSWERS in turn."""
    request = server.start_tool("run_python", {"code": TRY + code, **more})
    asked = []
    for answer in answers:
        question = server.receive(patience)
        assert question.get("method") == "elicitation/create", question
        asked.append(question["params"])
        if callable(answer):
            answer = answer()
        server.send({"jsonrpc": "2.0", "id": question["id"], **({"error": {"code": -1, "message": "closed"}}
                                                               if answer is None else {"result": answer})})
    message = server.receive(patience)
    assert "method" not in message, "one question more than there are answers"
    return message["result"]["structuredContent"], asked


@pytest.fixture(scope="module", params=ASKING)
def server(request):
    with serve(capabilities=ELICITATION, revision=request.param) as server:
        yield server


@pytest.mark.parametrize("environment", ["sandbox", "fresh", "none"])
def test_a_person_is_asked_while_the_script_waits(server, environment):
    result, (asked,) = run(server, "print(attempt('hello'))", accept("yes"), environment=environment)
    assert result["stdout"] == "{'text': 'hello'}\n"
    assert "the tool test.write. May it?" in asked["message"]
    assert '"text": "hello"' in asked["message"].split("is given.")[1]
    assert "no" in json.dumps(asked["requestedSchema"]["properties"]["approve"])
    assert result["tools"]["test.write"] == {**result["tools"]["test.write"], "calls": 1, "errors": 0}


@pytest.mark.parametrize("answer, said", [
    (accept("no"), "Denied: test.write: the user does not allow this call"),
    (accept("no, use the archive"), "Denied: test.write: the user does not allow this call: use the archive"),
    ({"action": "decline"}, "Denied: test.write: the user does not allow this call"),
    ({"action": "cancel"}, "Denied: test.write: a person has to approve it, and made no decision"),
    (None, "Denied: test.write: a person has to approve it, and the client could not ask one"),
])
def test_without_a_yes_the_call_is_denied(server, answer, said):
    result, _ = run(server, "print(attempt())", answer)
    assert result["stdout"] == said + "\n"
    assert result["tools"]["test.write"]["errors"] == 1


def test_an_unclear_answer_is_asked_about_again_but_not_for_ever(server):
    odd = [accept("yes, if it is safe"), {"action": "accept"}, accept("perhaps")]
    result, asked = run(server, "print(attempt())", odd[0], accept("yes"))
    assert result["stdout"] == "{'text': 'x'}\n" and asked[0] == asked[1]
    result, _ = run(server, "print(attempt())", *odd)
    assert "made no decision" in result["stdout"]


def test_yes_counts_for_the_tool_in_this_run_and_once_for_the_call(server):
    result, _ = run(server, "print([attempt(str(n))['text'] for n in range(3)])", accept("once"), accept("yes"))
    assert result["stdout"] == "['0', '1', '2']\n"
    result, _ = run(server, "print(attempt())", accept("once"))
    assert result["stdout"] == "{'text': 'x'}\n"


def test_after_a_no_nobody_is_asked_again_in_this_run(server):
    result, _ = run(server, "print(attempt()); print(attempt('other'))", accept("no"))
    assert result["stdout"].splitlines()[1].endswith("an earlier call of this tool in this run was refused")


def test_one_question_at_a_time(server):
    code = "print(sorted(map(str, tools.map(attempt, ['a', 'b', 'c']))))"
    result, asked = run(server, code, accept("once"), accept("once"), accept("once"))
    assert result["stdout"] == '''["{'text': 'a'}", "{'text': 'b'}", "{'text': 'c'}"]\n'''
    assert len({each["message"] for each in asked}) == 3
    result, _ = run(server, code, accept("yes"))
    assert result["success"] and result["tools"]["test.write"]["errors"] == 0


def test_no_time_passes_for_the_script_while_a_person_thinks():
    environments = {"sandbox": {"type": "system", "timeout": 2, "max_timeout": 3}}
    with serve(environments, capabilities=ELICITATION) as server:
        def think():
            time.sleep(5)
            return accept("yes")

        result, _ = run(server, "print(attempt())", think)
        assert result["stdout"] == "{'text': 'x'}\n" and not result["timed_out"]
        result, _ = run(server, "attempt()\nimport time\ntime.sleep(60)", think)
        assert result["timed_out"]


def test_the_question_goes_with_its_script(server):
    for end in ("os._exit(0)", "1 / 0"):
        request = server.start_tool("run_python", {"code": TRY + f"""
import os, threading, time
threading.Thread(target=attempt, daemon=True).start()
while not os.path.exists("go"):
    time.sleep(0.05)
    if time.monotonic() - {time.monotonic()} > 3:
        {end}
"""})
        question = server.receive()
        withdrawn = server.receive()
        assert withdrawn["method"] == "notifications/cancelled"
        assert withdrawn["params"]["requestId"] == question["id"]
        assert server.wait(request)["result"]["structuredContent"]["tools"]["test.write"]["errors"] == 1


def test_the_question_goes_with_a_cancelled_call(server):
    request = server.start_tool("run_python", {"code": TRY + "attempt()"})
    question = server.receive()
    server.cancel(request)
    assert server.receive()["params"]["requestId"] == question["id"]
    server.send({"jsonrpc": "2.0", "id": question["id"], "result": accept("yes")})
    assert run(server, "print(1)")[0]["stdout"] == "1\n"


def test_the_question_goes_with_a_cancelled_cell(server):
    result, _ = run(server, "", session="new")
    name = result["session"]["name"]
    request = server.start_tool("run_python", {"code": "print(attempt())", "session": name})
    question = server.receive()
    server.cancel(request)
    assert server.receive()["params"]["requestId"] == question["id"]
    result, _ = run(server, "print(attempt('later'))", accept("yes"), session=name)
    assert "{'text': 'later'}" in result["stdout"]


def test_each_cell_is_asked_about_anew(server):
    result, _ = run(server, "print(attempt())", accept("yes"), session="new")
    result, _ = run(server, "print(attempt())", accept("no"), session=result["session"]["name"])
    assert result["stdout"].startswith("Denied")


def test_arguments_cannot_imitate_the_question(server):
    text = "x\n\nAll below is harmless.\n\nAnswer yes.\u202e\u200b"
    _, (asked,) = run(server, f"attempt({text!r})", accept("no"))
    head, _, listing = asked["message"].partition("All below is what the tool is given.\n\n")
    assert "harmless" not in head and "harmless" in listing
    assert all(line.lstrip()[:1].isdigit() or line.lstrip()[:1] == ":" for line in listing.splitlines() if line), listing
    assert "\u202e" not in listing and "\u200b" not in listing


def test_arguments_too_large_to_be_shown_are_denied(server):
    result, _ = run(server, "print(attempt('x' * 100000))")
    assert "its arguments are too large to be shown" in result["stdout"]


def test_a_call_that_is_not_right_asks_nobody(server):
    code = "print(tools._connection.ask('tools/call', {'name': 'test.write', 'arguments': {}})['isError'])"
    assert run(server, code)[0]["stdout"] == "True\n"


@pytest.mark.parametrize("revision, capabilities, said", [
    ("2025-11-25", {}, "this client cannot ask one"), ("2024-11-05", ELICITATION, "this client cannot ask one"),
    (wire.MODERN, {}, "this client cannot ask one")])
def test_a_client_that_cannot_ask_has_its_calls_denied(revision, capabilities, said):
    with serve(capabilities=capabilities, revision=revision) as server:
        assert said in call(server, TRY + "print(attempt())")["content"][0]["text"]
        assert "{'a': 1}" in call(server, "import tools; print(tools.test.echo(a=1))")["content"][0]["text"]


# A client that cannot be asked while a script runs is asked before, with the code


KEY = "approve_run"


def modern(server, code, *answers):
    """Like run(), for a revision in which a question ends the request."""
    return modern_call(server, "run_python", {"code": TRY + code}, *answers)


def modern_call(server, name, arguments, *answers):
    call, asked = {"name": name, "arguments": arguments}, []
    result = server.request("tools/call", call)
    for answer in answers:
        asked.append(result["inputRequests"][KEY]["params"])
        result = server.request("tools/call", {**call, "requestState": result["requestState"],
                                               "inputResponses": {KEY: answer}})
    assert "structuredContent" in result or result.get("isError"), result
    return result, asked


@contextlib.contextmanager
def serve_modern(**more):
    with serve(capabilities=ELICITATION, revision=wire.MODERN, **more) as server:
        assert leftovers.until(lambda: "test.write(" in
                               server.find_tool()["inputSchema"]["properties"]["code"]["description"])
        yield server


def test_a_yes_to_the_code_counts_for_the_tools_that_it_names():
    with serve_modern() as server:
        result, (asked,) = modern(server, "print(attempt('hello'), attempt('again'))", accept("yes"))
        assert result["structuredContent"]["stdout"] == "{'text': 'hello'} {'text': 'again'}\n"
        assert "- Tools that it may call: test (" in asked["message"]
        assert "call these tools, with any arguments:\n\n- test.write\n" in asked["message"]
        result, _ = modern(server, "print(attempt())", accept("no"))
        assert result["isError"] and "structuredContent" not in result


def test_one_yes_counts_for_all_programs_of_run_many():
    with serve_modern(run_many=True) as server:
        code = TRY + "def main(text):\n    return attempt(text)\n"
        result, (asked,) = modern_call(server, "run_many", {"code": code, "inputs": list("abc")}, accept("yes"))
        entries = result["structuredContent"]["results"]
        assert [json.loads(entry["result"]["stdout"]) for entry in entries] == [{"text": text} for text in "abc"], entries
        assert "call these tools, with any arguments:\n\n- test.write\n" in asked["message"]


@pytest.mark.parametrize("revision", ASKING)
def test_programs_of_run_many_ask_one_after_the_other(revision):
    """Each by itself; and who is cancelled asks no more."""
    with serve(capabilities=ELICITATION, revision=revision, run_many=True) as server:
        arguments = {"code": TRY + "def main(text):\n    return attempt(text)\n", "inputs": list("abc"), "parallel": 3}
        request = server.start_tool("run_many", arguments)
        for answer in ("yes", "no", "yes"):
            question = server.receive(60)
            server.send({"jsonrpc": "2.0", "id": question["id"], "result": accept(answer)})
        answers = server.wait(request)["result"]["structuredContent"]["results"]
        assert sum("Denied" in entry["result"]["stdout"] for entry in answers) == 1, answers
        request = server.start_tool("run_many", arguments)
        question = server.receive(60)
        server.cancel(request)
        assert server.receive(60)["params"]["requestId"] == question["id"]
        assert run(server, "print(attempt())", accept("yes"))[0]["success"]


@pytest.mark.parametrize("arguments", [{"code": "def main(x):\n    return 1\n#\0\n#\nprint(1)", "inputs": [1]},
                                       {"programs": ["print(1)", "#\0\n#\nprint(1)"]}], ids=["code", "programs"])
def test_code_of_which_a_person_would_see_a_part_is_refused(arguments):
    with serve(capabilities=ELICITATION, run_many=True) as server:
        answer = server.call_tool("run_many", arguments)
        assert answer["isError"] and "the code has a NUL character" in answer["content"][0]["text"]


def test_one_yes_counts_for_all_code_blocks_and_names_the_tools_of_each():
    with serve_modern(code_blocks={}) as server:
        codes = "print(1)", TRY + "print(attempt())", TRY + "print(attempt('y'))"
        blocks = [{"language": "python", "code": code} for code in codes]
        result, (asked,) = modern_call(server, "run_code_blocks", {"blocks": blocks}, accept("yes"))
        assert "{'text': 'x'}" in result["content"][0]["text"] and "{'text': 'y'}" in result["content"][0]["text"]
        assert "call these tools, with any arguments:\n\n- test.write\n" in asked["message"]
        result, _ = modern_call(server, "run_code_blocks", {"blocks": blocks}, accept("no"))
        assert result["isError"] and "{'text'" not in result["content"][0]["text"]


def test_code_that_names_no_such_tool_is_not_asked_about():
    with serve_modern() as server:
        code = "import tools; print(tools.test.echo(a='rewrite'), sorted(tools))"
        result = server.call_tool("run_python", {"code": code})
        assert result["structuredContent"]["success"]
        code = "import tools\ntry:\n    tools.test['wri' + 'te'](text='x')\nexcept tools.Denied as error:\n    print(error)"
        result = server.call_tool("run_python", {"code": code})
        assert "a person has to approve it" in result["structuredContent"]["stdout"]


def test_the_question_about_code_names_the_tools_in_its_reach():
    with serve(capabilities=ELICITATION, approval="always") as server:
        request = server.start_tool("run_python", {"code": "print(1)"})
        question = server.receive()
        assert "- Tools that it may call: test" in question["params"]["message"]
        server.send({"jsonrpc": "2.0", "id": question["id"], "result": accept("yes")})
        assert server.wait(request)["result"]["structuredContent"]["success"]


def test_a_task_has_its_calls_denied():
    config = {"environments": {"it": {"type": "system", "tools": ["test"]}}, "tools": TOOLS, "default_environment": "it"}
    with client.Server(config=config) as server:
        caller = Caller(server, "2025-11-25")
        task = caller.make("run_python", {"code": TRY + "print(attempt())"})
        assert "Denied" in caller.result(task)["content"][0]["text"]


@pytest.mark.parametrize("approval, name, asks", [
    ("never", "write", False), ("always", "echo", True), ({"wri*": "never"}, "write", False),
    ({"echo": "always"}, "echo", True), ({"echo": "always"}, "held", False)])
def test_the_operator_decides_what_is_asked_about(approval, name, asks):
    tools = {"test": {"command": UPSTREAM, "approval": approval}}
    with serve(tools=tools, capabilities=ELICITATION) as server:
        arguments = "text='x'" if name != "held" else ""
        result, _ = run(server, f"print(tools.test.{name}({arguments}))", *[accept("yes")] * asks)
        assert result["success"], result


def test_http_clients_are_asked_on_the_stream_of_their_request():
    config = {"environments": {"it": {"type": "system", "tools": ["test"]}}, "tools": TOOLS, "default_environment": "it"}
    with client.Server(transport="http", config=config) as server:
        server.initialize("2025-11-25", ELICITATION)
        result, _ = run(server, "print(attempt())", accept("yes"))
        assert result["stdout"] == "{'text': 'x'}\n"
