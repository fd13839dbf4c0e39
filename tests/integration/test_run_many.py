"""run_many: one program for many inputs, or many programs, as one call of a tool."""

import contextlib
import json
import os
import sys
import time

import pytest

import client
import leftovers
import wire
from test_approval import ACCEPT, ELICITATION, Person
from test_authentication import serve as serve_with_tokens
from test_authentication import token_of, tokens
from test_reload import reload
from test_reload import serve as serve_reloaded

__all__ = ["tokens"]  # a fixture

SQUARE = "def main(n):\n    return n ** 2\n"


def serve(*, results="structured", **more):
    return client.Server("--results", results, config={"run_many": True, **more})


@pytest.fixture(scope="module")
def server():
    with serve() as server:
        server.initialize()
        yield server


def many(server, **arguments):
    return server.call_tool("run_many", arguments)


def text_of(result):
    return result["content"][0]["text"]


def outputs(result):
    """The standard output of each run, or why it was not run."""
    return [each["error"] or each["result"]["stdout"] for each in result["structuredContent"]["results"]]


def refusal(server, **arguments):
    result = many(server, **arguments)
    assert result["isError"] and "structuredContent" not in result, result
    return text_of(result)


def test_it_is_there_where_the_operator_wants_it():
    with serve_reloaded({"run_many": False}) as server:
        server.initialize()
        assert [tool["name"] for tool in server.list_tools()] == ["run_python"]
        reload(server, {"run_many": True})
        assert leftovers.until(lambda: "run_many" in [tool["name"] for tool in server.list_tools()])
        reload(server, {"run_many": False})
        assert leftovers.until(lambda: "run_many" not in [tool["name"] for tool in server.list_tools()])


def test_a_program_runs_once_for_each_input(server):
    result = many(server, code=SQUARE, inputs=list(range(20)), parallel=3)
    assert [json.loads(each) for each in outputs(result)] == [n ** 2 for n in range(20)]
    structured = result["structuredContent"]
    assert (structured["success"], structured["succeeded"], structured["failed"]) == (True, 20, 0)
    assert not result["isError"]
    assert text_of(result).startswith("20 runs: 20 succeeded, 0 failed.\n\nThe output of each run:\n0: 0\n1: 1\n2: 4\n")


def test_programs_run_each_for_itself(server):
    assert outputs(many(server, programs=[f"print({n})" for n in range(5)])) == [f"{n}\n" for n in range(5)]


def test_an_input_is_anything_that_json_can_say(server):
    inputs = [None, True, -1.5, "süß\n\"'\\ \U0001F600", [1, [None]], {"a": {"ü": None}, "": []}]
    code = "```python\ndef main(value):\n    return [value]\n```"
    result = many(server, code=code, inputs=inputs)
    assert [json.loads(each) for each in outputs(result)] == [[value] for value in inputs]


def test_a_traceback_has_only_lines_of_the_program(server):
    """What calls main is not the model's. A traceback that the program itself shows stays whole."""
    code = """
import sys
def main(n):
    try:
        1 / n
    except ZeroDivisionError:
        sys.excepthook(*sys.exc_info())
        raise
    except TypeError:
        raise SystemExit(7)
"""
    runs = many(server, code=code, inputs=[0, 1, "x"])["structuredContent"]["results"]
    shown, right, ended = [each["result"] for each in runs]
    assert shown["stderr"].count(", line 5, in main\n") == 2 and "<module>" not in shown["stderr"]
    assert (right["stderr"], ended["returncode"], ended["stderr"]) == ("", 7, "")
    unfit, = many(server, code="def main(): pass", inputs=[1])["structuredContent"]["results"]
    assert unfit["result"]["returncode"] == 1
    assert unfit["result"]["stderr"].startswith("TypeError: main() takes 0 positional")


def test_a_failure_costs_only_itself_and_is_told_whole(server):
    result = many(server, code="def main(n):\n    print(n)\n    return 6 / n\n", inputs=[3, 0, "x", 2])
    assert [each["success"] for each in result["structuredContent"]["results"]] == [True, False, False, True]
    structured = result["structuredContent"]
    assert result["isError"] and (structured["succeeded"], structured["failed"]) == (2, 2)
    text = text_of(result)
    assert text.startswith("4 runs: 2 succeeded, 2 failed.\n\nRun ")
    assert "line 3, in main" in text and "exitcode: 1 (execution failed)" in text
    assert "\n0: 3\n    2.0\n1: failed: ZeroDivisionError: division by zero\n2: failed: TypeError: " in text


def test_a_long_output_is_cut_in_the_text(server):
    result = many(server, programs=["print('spam ' * 100000)"] * 40)
    assert all(len(each) == 500001 for each in outputs(result)[:30])
    last = result["structuredContent"]["results"][-1]["result"]
    assert (last["stdout"], last["truncated"]) == ("", True)
    assert len(text_of(result)) < 20000 and len(json.dumps(result)) < 20 << 20


def test_all_runs_work_in_one_directory(server):
    made = many(server, code="def main(n):\n    open(f'file-{n}', 'w').write(str(n))", inputs=[1, 2, 3])
    handles = {each["result"]["working_directory"] for each in made["structuredContent"]["results"]}
    assert len(handles) == 1
    read = many(server, code="def main(n):\n    print(open(f'file-{n}').read())", inputs=[1, 2, 3],
                working_directory=handles.pop())
    assert outputs(read) == ["1\n", "2\n", "3\n"]


def test_the_runs_of_a_request_that_stands_alone_have_one_directory_too():
    with client.Server("--results", "structured", transport="http", config={"run_many": True}) as server:
        server.initialize(wire.MODERN)
        made = many(server, code="import os\ndef main(n):\n    print(os.getcwd())", inputs=[1, 2, 3])
        again = many(server, programs=["import os\nprint(os.getcwd())"])
        assert len(set(outputs(made))) == 1 and outputs(again)[0] not in outputs(made)


ALONE = """
import os, time
def main(n):
    os.close(os.open("alone", os.O_CREAT | os.O_EXCL))
    time.sleep(0.05)
    os.unlink("alone")
"""
# Each waits for all others, but the first, which goes alone.
TOGETHER = """
import os, time
def main(n):
    open(f"begun-{n}", "w").close()
    while n and len([name for name in os.listdir() if name.startswith("begun-")]) < 4: time.sleep(0.01)
"""


def test_as_many_run_at_a_time_as_was_said(tmp_path):
    with serve(working_directory=str(tmp_path)) as server:
        server.initialize()
        assert many(server, code=ALONE, inputs=[1] * 6, parallel=1, timeout=100)["structuredContent"]["success"]
        assert many(server, code=TOGETHER, inputs=[0, 1, 2, 3], timeout=100)["structuredContent"]["success"]


def test_progress_comes_with_each_result(server):
    server.call_tool("run_many", {"code": SQUARE, "inputs": [1, 2, 3]}, progress_token="many")
    told = server.progress("many")
    messages = [each.get("message") for each in told]
    for count in (1, 2, 3):
        assert f"{count} of 3 runs are over, 0 failed" in messages
    values = [each["progress"] for each in told]
    assert values == sorted(set(values))


def test_cancelling_ends_all_runs(tmp_path):
    """There are as many places as runs that go: the next call runs only if their programs are gone."""
    code = "import time\ndef main(n):\n    open(f'begun-{n}', 'w').close()\n    time.sleep(3000 * (n > 0))\n"
    config = {"working_directory": str(tmp_path), "limits": {"concurrent_runs": 2}, "max_timeout": 6000}
    with serve(**config) as server:
        server.initialize()
        call = server.start_tool("run_many", {"code": code, "inputs": [0, 1, 2, 3], "timeout": 6000})
        assert leftovers.until(lambda: (tmp_path / "begun-1").exists() and (tmp_path / "begun-2").exists())
        server.cancel(call)
        assert outputs(many(server, programs=["print(1)"] * 3, timeout=6000)) == ["1\n"] * 3
        assert not (tmp_path / "begun-3").exists()


def test_a_person_is_asked_once_and_sees_all():
    with serve(approval="always") as server:
        server.initialize("2025-11-25", ELICITATION)
        someone = Person(server, "2025-11-25")
        for arguments, shown in (
                ({"code": SQUARE, "inputs": [7, "seven"]}, ["number of inputs: 2", "def main(n)", 'input 1: "seven"']),
                ({"programs": ["print(1)", "print(2)"]}, ["program 1:", "print(2)"])):
            call = server.start_tool("run_many", arguments)
            question, _ = someone.question(call)
            assert all(words in question["params"]["message"] for words in shown), question
            server.send({"jsonrpc": "2.0", "id": question["id"], "result": ACCEPT})
            question, response = someone.question(call)
            assert question is None and len(outputs(response["result"])) == 2
        call = server.start_tool("run_many", {"programs": ["print(1)"]})
        question, _ = someone.question(call)
        server.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
        assert "declined" in text_of(someone.question(call)[1]["result"])


def test_more_runs_than_the_server_takes_wait():
    with serve(limits={"concurrent_runs": 2, "queued_runs": 2}) as server:
        server.initialize()
        server.results = "structured"
        assert outputs(many(server, programs=[f"print({n})" for n in range(20)], parallel=20)) == [
            f"{n}\n" for n in range(20)]


def test_several_calls_at_once_lose_none_of_their_runs():
    with serve(limits={"concurrent_runs": 2, "queued_runs": 6}) as server:
        server.initialize()
        numbers = [server.start_tool("run_many", {"programs": ["print(1)"] * 8, "parallel": 8}) for _ in range(4)]
        results = [server.wait(number)["result"] for number in numbers]
    assert [outputs(result) for result in results] == [["1\n"] * 8] * 4


HOLDS = """
import os, time
def main(name):
    open(name + "-begun", "w").close()
    while not os.path.exists(name): time.sleep(0.01)
"""


def test_a_run_is_tried_again_when_only_those_of_others_go(tmp_path):
    """The place of the first run is another connection's, and a run of this one waits for it already."""
    def held(connection, name, **more):
        call = connection.start_tool("run_many", {"code": HOLDS, "inputs": [name], **more})
        assert leftovers.until((tmp_path / f"{name}-begun").exists)
        return call

    with client.Server("--results", "structured", transport="unix", config={
            "run_many": True, "working_directory": str(tmp_path), "max_timeout": 600, "timeout": 600,
            "limits": {"concurrent_runs": 1, "queued_runs": 2}}) as server:
        server.initialize()
        other = server.connect()
        other.initialize()
        first = held(server, "a", inputs=["a", "b"], parallel=1)
        elsewhere = held(other, "c")
        waiting = server.start_tool("run_many", {"code": HOLDS, "inputs": ["d"]})
        server.request("ping")
        (tmp_path / "a").touch()
        assert leftovers.until((tmp_path / "d-begun").exists)
        for name in "bcd":
            (tmp_path / name).touch()
        found = [server.wait(first), server.wait(waiting), other.wait(elsewhere)]
    assert [outputs(each["result"]) for each in found] == [["", ""], [""], [""]]


@contextlib.contextmanager
def counted(tokens, limit, **config):
    """A server, and a connection of alice, who may make as many calls as LIMIT says; bob has no limit."""
    with serve_with_tokens(token_file=str(tokens({"alice": limit, "bob": "calls_per_minute=1000000"})), run_many=True,
                           results="structured", **config) as server:
        server.token = token_of("alice")
        alice = server.connect()
        alice.initialize()
        yield server, alice


def test_each_run_counts_as_a_call_and_waits_until_it_may(tokens):
    """Twenty may come at once, and then one a second: the call counts with its first run."""
    with counted(tokens, "calls_per_minute=60") as (_, alice):
        begun = time.monotonic()
        assert outputs(many(alice, programs=["print(1)"] * 23)) == ["1\n"] * 23
        assert time.monotonic() - begun >= 3


def test_a_run_counts_once_however_often_it_is_tried(tokens):
    """Four may come at once, and then one in five seconds."""
    with counted(tokens, "calls_per_minute=12", limits={"concurrent_runs": 1, "queued_runs": 0}) as (_, alice):
        assert outputs(many(alice, programs=["print(1)"] * 3, parallel=3)) == ["1\n"] * 3
        assert "too many" not in text_of(alice.call_tool("run_python", {"code": "print(2)"}))


def test_a_call_whose_next_run_waits_can_be_cancelled(tokens):
    with counted(tokens, "calls_per_minute=1") as (server, alice):
        call = alice.start_tool("run_many", {"programs": ["print(1)"] * 2}, progress_token="many")
        while (message := alice.receive())["params"].get("message") != "1 of 2 runs are over, 0 failed":
            assert message["method"] == "notifications/progress"
        alice.cancel(call)
        alice.request("ping")
        server.token = token_of("bob")
        bob = server.connect()
        bob.initialize()
        longer_than_it_waits = "import time\ntime.sleep(2)"
        assert not bob.call_tool("run_python", {"code": longer_than_it_waits})["isError"]
        alice.assert_silent(0)


def test_what_keeps_the_first_from_running_keeps_all(tmp_path):
    python = tmp_path / "python3"
    python.symlink_to(os.path.realpath(sys.executable))
    with serve(environments={"gone": {"type": "system", "executable": str(python)}}) as server:
        server.initialize()
        python.unlink()
        result = many(server, programs=["print(1)"] * 3)
    assert result["isError"]
    assert [each["error"] for each in result["structuredContent"]["results"]] == [
        None, "not run, as the first could not be run", "not run, as the first could not be run"]


@pytest.mark.parametrize("words, arguments", [
    ("give either code and inputs, or programs", {}),
    ("give either code and inputs, or programs", {"code": SQUARE}),
    ("give either code and inputs, or programs", {"code": SQUARE, "inputs": [1], "programs": ["1"]}),
    ("must define main(input)", {"code": "print(1)", "inputs": [1]}),
    ("at least 1", {"programs": []}),
    ("at most 256", {"code": SQUARE, "inputs": [1] * 257}),
    ("environment must be", {"programs": ["1"], "environment": "elsewhere"}),
    ("parallel must be at least 1", {"programs": ["1"], "parallel": 0}),
])
def test_a_mistake_is_told_and_nothing_runs(server, words, arguments):
    assert words in refusal(server, **arguments)


def test_a_text_result_has_what_a_model_needs():
    with serve(results="text") as server:
        server.initialize()
        server.results = "text"
        result = many(server, code=SQUARE, inputs=[2, 3])
        assert "structuredContent" not in result
        assert text_of(result) == "2 runs: 2 succeeded, 0 failed.\n\nThe output of each run:\n0: 4\n1: 9"
