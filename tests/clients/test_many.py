"""Many runs by the Python package: of one program for many inputs, and of many programs."""

import asyncio
import contextlib
import itertools
import json
import os
import pathlib
import sys
import threading
import time

import pytest

import installed
import python_package

import pyexecd
import pyexecd.many
from pyexecd.connection import Answer, Connection
from pyexecd.listener import Listener
from pyexecd.waiting import Waiting

WAIT_SECONDS = 120
SQUARE = "def main(n):\n    return n ** 2\n"
over_each_way = pytest.mark.parametrize("way", python_package.WAYS)
in_both_clients = pytest.mark.parametrize("kind", [pyexecd.Client, pyexecd.AsyncClient])


def over_stdio(**configuration):
    return {"command": installed.PYEXECD, "config": {**python_package.CONFIGURATION, **configuration}}


def another_call(client):
    return client.run_python("print(1)", timeout=100)


def mapped(kind, arguments, *given, take=None, pairs=False, then=lambda: None, another=another_call, **named):
    """All that `map()` of a client of KIND gives, or the first TAKE, with THEN called at each; what it says of ANOTHER
    call."""
    def runs(client):
        made = client.run_many(*given, **named) if len(given) == 1 else client.map(*given, **named)
        return made.as_completed() if pairs else made

    async def program():
        async with pyexecd.AsyncClient(**arguments) as client:
            found = []
            async for each in runs(client):
                found.append(each)
                then()
                if len(found) == take:
                    break
            return found, await another(client)

    if kind is pyexecd.AsyncClient:
        return asyncio.run(program())
    with pyexecd.Client(**arguments) as client:
        found = []
        for each in itertools.islice(runs(client), take):
            found.append(each)
            then()
        return found, another(client)


@over_each_way
@in_both_clients
def test_a_program_runs_once_for_each_input(kind, way, tmp_path):
    with python_package.reached(way, tmp_path) as arguments:
        results, _ = mapped(kind, arguments, SQUARE, range(12), parallel=3)
    assert [json.loads(result.stdout) for result in results] == [n ** 2 for n in range(12)]


@in_both_clients
def test_programs_run_each_for_itself(kind):
    results, _ = mapped(kind, over_stdio(), [f"print({n})" for n in range(5)])
    assert [result.stdout for result in results] == [f"{n}\n" for n in range(5)]


VALUES = [None, True, 0, -1.5, 10 ** 30, "", "süß\n\"'\\ \u2028 \U0001F600 \0", "\ud800", [], [1, [2]],
          {"a": {"ü": None}}]


def test_an_input_is_anything_that_json_can_say():
    results, _ = mapped(pyexecd.Client, over_stdio(), "def main(value):\n    return [value]\n", VALUES)
    assert [json.loads(result.stdout) for result in results] == [[value] for value in VALUES]


def test_what_main_returns_is_printed_unless_it_is_nothing():
    (result,), _ = mapped(pyexecd.Client, over_stdio(), "def main(value):\n    print(value)\n", [7])
    assert result.stdout == "7\n"


@pytest.mark.parametrize("code, line", [(SQUARE, 2), (f"\n```python\n{SQUARE}```\n", 4)], ids=["plain", "fenced"])
def test_a_run_that_fails_costs_only_itself_and_says_its_line(code, line):
    results, _ = mapped(pyexecd.Client, over_stdio(), code, [1, "x", 3], parallel=1)
    assert [result.status for result in results] == ["success", "failure", "success"]
    assert f"line {line}, in main" in results[1].stderr
    assert "<module>" not in results[1].stderr and "_json" not in results[1].stderr


def test_the_value_is_the_last_line_unless_the_program_ends_early():
    code = ("import os, sys\ndef main(end):\n    print('begun', flush=True)\n    if end: eval(end)\n"
            "    return {'end': end}\n")
    results, _ = mapped(pyexecd.Client, over_stdio(), code, ["", "sys.exit(0)", "os._exit(0)"])
    assert [result.status for result in results] == ["success"] * 3
    assert json.loads(results[0].stdout.splitlines()[-1]) == {"end": ""}
    assert [result.stdout for result in results[1:]] == ["begun\n"] * 2


def test_a_long_value_is_cut_in_its_middle():
    (result,), _ = mapped(pyexecd.Client, over_stdio(), "def main(n):\n    return 'x' * n\n", [2 << 20])
    assert result.structured["truncated"] and result.stdout.startswith('"x') and result.stdout.endswith('x"\n')
    assert len(result.stdout) < 2 << 20


@in_both_clients
def test_a_run_that_is_refused_costs_only_itself(kind):
    too_long = "#" * (5 << 20)
    results, _ = mapped(kind, over_stdio(), ["print(1)", too_long, "print(3)"], parallel=1)
    assert [result.status for result in results] == ["success", "refused", "success"]
    assert "the limit is" in results[1].text
    results, _ = mapped(kind, over_stdio(), SQUARE, [1, 2], environment="elsewhere")
    assert [result.status for result in results] == ["refused", "refused"]
    assert "environment must be" in results[0].text


WAITS = """
import os, time
def main(name):
    while name and not os.path.exists(name): time.sleep(0.01)
    open("made", "w").close()
"""


@in_both_clients
def test_results_come_as_their_runs_end(kind, tmp_path):
    """The first run ends when the result of the second has come."""
    results, _ = mapped(kind, over_stdio(working_directory=str(tmp_path)), WAITS, ["go", ""], parallel=2, timeout=100,
                        pairs=True, then=(tmp_path / "go").touch)
    assert [(index, result.status) for index, result in results] == [(1, "success"), (0, "success")]


@in_both_clients
def test_results_come_in_order_though_runs_end_in_another(kind, tmp_path):
    results, _ = mapped(kind, over_stdio(working_directory=str(tmp_path)), WAITS + "    print(name)", ["made", ""],
                        parallel=2, timeout=100)
    assert [(result.stdout, result.status) for result in results] == [("made\n", "success"), ("\n", "success")]


ALONE = """
import os, time
def main(n):
    os.close(os.open("alone", os.O_CREAT | os.O_EXCL))
    time.sleep(0.05)
    os.unlink("alone")
"""


@in_both_clients
def test_no_more_run_at_a_time_than_was_said(kind, tmp_path):
    results, _ = mapped(kind, over_stdio(working_directory=str(tmp_path)), ALONE, range(8), parallel=1, timeout=100)
    assert [result.status for result in results] == ["success"] * 8
    (tmp_path / "alone").touch()
    (result,), _ = mapped(kind, over_stdio(working_directory=str(tmp_path)), ALONE, [1])
    assert result.status == "failure"


@in_both_clients
def test_the_end_of_the_iteration_ends_what_runs(kind):
    """There is one place: the next call runs only if the programs that wait are gone."""
    taken = []
    inputs = map(lambda n: taken.append(n) or n, itertools.count())
    code = "import time\ndef main(n):\n    time.sleep(3000 * (n > 0))\n"
    arguments = {**over_stdio(limits={"concurrent_runs": 1}, max_timeout=6000), "timeout": WAIT_SECONDS}
    (first,), other = mapped(kind, arguments, code, inputs, parallel=3, timeout=6000, take=1)
    assert first.success and other.stdout == "1\n"
    assert taken == [0, 1, 2]


def test_an_event_cancels_the_runs():
    cancel = threading.Event()
    with pyexecd.Client(**over_stdio(limits={"concurrent_runs": 1}, max_timeout=6000), timeout=WAIT_SECONDS) as client:
        runs = client.map("import time\ndef main(n):\n    time.sleep(n)\n", [0, 3000, 3000], timeout=6000,
                          cancel=cancel)
        with pytest.raises(pyexecd.CallCancelled):
            for _ in runs:
                cancel.set()
        assert client.run_python("print(1)", timeout=6000).stdout == "1\n"


def test_a_cancelled_task_ends_its_runs():
    async def program():
        async with pyexecd.AsyncClient(**over_stdio(limits={"concurrent_runs": 1}, max_timeout=6000),
                                       timeout=WAIT_SECONDS) as client:
            begun = asyncio.Event()

            async def iterate():
                async for _ in client.map("import time\ndef main(n):\n    time.sleep(n)\n", [0, 3000, 3000],
                                          timeout=6000):
                    begun.set()

            task = asyncio.ensure_future(iterate())
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await client.run_python("print(1)", timeout=6000)

    assert asyncio.run(program()).stdout == "1\n"


@in_both_clients
def test_a_run_beyond_the_timeout_of_the_client_costs_only_itself(kind):
    code = "import time\ndef main(n):\n    time.sleep(n)\n"
    for seconds in (3, 20):  # a busy machine takes longer for the others
        arguments = {**over_stdio(max_timeout=6000), "timeout": seconds}
        results, _ = mapped(kind, arguments, code, [0, 3000, 0], parallel=3, timeout=6000)
        if results[0].success and results[2].success:
            break
    assert [result.status for result in results] == ["success", "timeout", "success"]


def test_an_answer_that_came_in_time_is_taken_later():
    waiting = Waiting(Connection(None), 0.0, Listener())
    assert waiting.is_late()
    waiting._deliver(Answer({"content": []}, None))
    assert waiting.answer(None) == {"content": []}


@in_both_clients
def test_more_runs_than_the_server_takes_wait(kind):
    arguments = over_stdio(limits={"concurrent_runs": 2, "queued_runs": 2})
    results, _ = mapped(kind, arguments, SQUARE, range(40), parallel=30)
    assert [json.loads(result.stdout or result.text) for result in results] == [n ** 2 for n in range(40)]


@in_both_clients
def test_more_connections_than_the_server_takes_wait(kind, tmp_path):
    with python_package.reached("http", tmp_path, limits={"connections_per_client": 4}) as arguments:
        results, _ = mapped(kind, arguments, SQUARE, range(40), parallel=20)
    assert [json.loads(result.stdout or result.text) for result in results] == [n ** 2 for n in range(40)]


@in_both_clients
def test_a_run_beyond_the_calls_per_minute_waits_until_it_may(kind, tmp_path):
    """Twenty may come at once, and then one a second."""
    with python_package.reached("tcp", tmp_path, limits={"calls_per_minute": 60}) as arguments:
        begun = time.monotonic()
        results, _ = mapped(kind, arguments, SQUARE, range(22), parallel=4, another=lambda client: client.list_tools())
        assert time.monotonic() - begun >= 2
    assert [json.loads(result.stdout or result.text) for result in results] == [n ** 2 for n in range(22)]


HOLDS = """
import os, time
def main(name):
    open(name + "-begun", "w").close()
    while not os.path.exists("go"): time.sleep(0.01)
"""


@contextlib.contextmanager
def full(folder):
    """A server whose places other clients have until the file "go" is there."""
    directory = folder / "work"
    directory.mkdir()
    limits = {"concurrent_runs": 1, "queued_runs": 0}
    with contextlib.ExitStack() as stack:
        arguments = stack.enter_context(python_package.reached(
            "unix", folder, limits=limits, working_directory=str(directory), max_timeout=6000))
        for name in "ab":
            client = stack.enter_context(pyexecd.Client(**arguments))
            runs = client.map(HOLDS, [name], timeout=6000)
            thread = threading.Thread(target=list, args=(runs,))
            stack.callback(thread.join)
            thread.start()
            stack.callback((directory / "go").touch)
            deadline = time.monotonic() + WAIT_SECONDS
            while not (directory / f"{name}-begun").exists():
                assert time.monotonic() < deadline
                time.sleep(0.01)
        yield arguments, directory / "go"


@in_both_clients
def test_a_run_waits_for_those_of_others(kind, tmp_path, monkeypatch):
    keeps = pyexecd.many.Programs.keeps

    with full(tmp_path) as (arguments, go):
        def told(programs, index, program, result, going):
            if result.status == "refused":
                go.touch()
            return keeps(programs, index, program, result, going)

        monkeypatch.setattr(pyexecd.many.Programs, "keeps", told)
        results, _ = mapped(kind, arguments, SQUARE, [2, 3], parallel=2)
        assert go.exists()
    assert [result.stdout for result in results] == ["4\n", "9\n"]


@in_both_clients
def test_a_run_that_is_never_taken_is_refused(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(pyexecd.many, "REFUSED_SECONDS", 0.5)
    with full(tmp_path) as (arguments, go):
        results, _ = mapped(kind, arguments, SQUARE, [2, 3, 4], parallel=2, another=lambda client: client.list_tools())
        assert not go.exists()
    assert [result.status for result in results] == ["refused"] * 3
    assert all("busy" in result.text for result in results)


def test_an_event_cancels_a_run_that_waits_to_be_taken(tmp_path, monkeypatch):
    cancel = threading.Event()
    keeps = pyexecd.many.Programs.keeps

    def told(*arguments):
        cancel.set()
        return keeps(*arguments)

    with full(tmp_path) as (arguments, _), pyexecd.Client(**arguments) as client:
        monkeypatch.setattr(pyexecd.many.Programs, "keeps", told)
        with pytest.raises(pyexecd.CallCancelled):
            list(client.map(SQUARE, [2, 3], cancel=cancel))


TOGETHER = """
import os, time
def main(n):
    open(f"begun-{n}", "w").close()
    while len([name for name in os.listdir() if name.startswith("begun-")]) < 5: time.sleep(0.01)
"""


@in_both_clients
def test_the_end_ends_what_runs_though_all_connections_are_in_use(kind, tmp_path):
    """There are five places: five runs that wait for each other end only if those before are gone."""
    def together(client):
        runs = client.map(TOGETHER, range(5), parallel=5, timeout=6000)
        if kind is pyexecd.Client:
            return list(runs)
        async def collected():
            return [result async for result in runs]
        return collected()

    directory = tmp_path / "work"
    directory.mkdir()
    with python_package.reached("http", tmp_path, limits={"concurrent_runs": 5, "connections_per_client": 6},
                                working_directory=str(directory), max_timeout=6000) as arguments:
        code = "import time\ndef main(n):\n    time.sleep(3000 * (n > 0))\n"
        arguments = {**arguments, "timeout": WAIT_SECONDS}
        (first,), others = mapped(kind, arguments, code, range(6), parallel=6, timeout=6000, take=1, another=together)
    assert first.success and [result.status for result in others] == ["success"] * 5


@pytest.mark.parametrize("words, seconds", [
    ("the server is busy: 4 runs are going and 64 are waiting; try again in a few seconds", 1),
    ("all machines of the environment are busy: 4 runs are going and 64 are waiting; try again in a few seconds", 1),
    ("too many calls: 60 a minute are allowed; try again in 9 s", 9),
    ("Busy: 256 requests wait for their answers; try again later", 1),
    ("HTTP status 503: Too many connections; try again later (Retry-After: 7)", 7),
    ("HTTP status 429: Too Many Requests (Retry-After: 86400)", 120),
    ("environment must be \"python\"", None),
    ("HTTP status 403: Forbidden", None),
])
def test_a_refusal_says_when_to_try_again(words, seconds):
    programs = pyexecd.many.Programs(["1", "2"], 2)
    assert programs.next(0) == (0, "1")
    is_kept = programs.keeps(0, "1", pyexecd.many.failed(pyexecd.ProtocolError(words)), 1)
    wait = programs.seconds_until_place()
    assert is_kept == (seconds is not None)
    assert wait is None if seconds is None else seconds - 1 < wait <= seconds
    assert programs.next(1) == (None if is_kept else (1, "2"))
    assert programs.next(0) == ((0, "1") if is_kept else None)


@in_both_clients
def test_the_end_of_the_server_ends_the_iteration(kind):
    stub = [sys.executable, str(pathlib.Path(__file__).with_name("stub_server.py")), "dies"]
    with pytest.raises(pyexecd.ConnectionLost, match="line 99"):
        mapped(kind, {"command": stub}, SQUARE, range(9), parallel=3)


MISTAKES = {
    "no main": (ValueError, "must define main", ("print(1)", [1], {})),
    "no text": (TypeError, "code must be str, not int", (1, [1], {})),
    "a path": (ValueError, "it is text, not a path", ("sq.py", [1], {})),
    "a path with main": (ValueError, "it is text, not a path", ("lib/main.py", [1], {})),
    "async": (ValueError, "main must be a plain function", ("async def main(n):\n    return n\n", [1], {})),
    "no place": (ValueError, "must be at least 1", (SQUARE, [1], {"parallel": 0})),
    "no number": (TypeError, "parallel must be int, not str", (SQUARE, [1], {"parallel": "4"})),
    "no json": (TypeError, "input 0: .*not JSON serializable", (SQUARE, [object()], {})),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@in_both_clients
def test_a_mistake_of_the_program_is_raised(kind, mistake):
    error, words, (code, inputs, named) = MISTAKES[mistake]
    with pytest.raises(error, match=words):
        mapped(kind, over_stdio(), code, inputs, **named)


@in_both_clients
def test_one_program_is_not_taken_for_many(kind):
    with pytest.raises(TypeError, match="programs must be a list.*, not one str"):
        mapped(kind, over_stdio(), "print(1)")


def test_any_whole_number_may_be_parallel():
    class Number:
        def __index__(self):
            return 2

    results, _ = mapped(pyexecd.Client, over_stdio(), SQUARE, [1, 2, 3], parallel=Number())
    assert [json.loads(result.stdout) for result in results] == [1, 4, 9]


WRONG = {
    "input": ((SQUARE, [1, 2, object(), 4]), TypeError, "input 2: "),
    "circle": ((SQUARE, [1, 2, (circle := [])]), ValueError, "input 2: "),
    "program": ((["print(1)", "print(4)", b"print(9)"],), TypeError, "program 2 must be str, not bytes"),
}
circle.append(circle)


@pytest.mark.parametrize("wrong", WRONG)
@in_both_clients
def test_a_wrong_input_is_told_behind_the_results_before_it(kind, wrong):
    given, error, words = WRONG[wrong]
    found = []

    async def program():
        async with pyexecd.AsyncClient(**over_stdio()) as client:
            async for result in (client.map(*given, parallel=3) if len(given) == 2 else client.run_many(*given)):
                found.append(result.stdout)

    with pytest.raises(error, match=words):
        if kind is pyexecd.AsyncClient:
            asyncio.run(program())
        else:
            with pyexecd.Client(**over_stdio()) as client:
                for result in client.map(*given, parallel=3) if len(given) == 2 else client.run_many(*given):
                    found.append(result.stdout)
    assert found == ["1\n", "4\n"]
