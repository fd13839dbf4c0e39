"""Calls whose Python was started before them (forecast.h): what they see, and what becomes of those that wait."""

import contextlib
import json
import os
import signal

import pytest
import wire
from client import STRUCTURED, with_more_time
from leftovers import PATIENCE, Watched, alive, read, until, until_one_waits, waiting
from sessions import Session

SYSTEM = {"type": "system", "isolation": "sandbox"}


def config(**more):
    return {"environments": {"system": {**SYSTEM, **more}}}


@contextlib.contextmanager
def serving(**settings):
    with Watched(config=settings or config()) as server:
        server.initialize()
        yield server


@pytest.fixture
def server():
    with serving() as server:
        yield server


def call(server, code, **arguments):
    return server.call_tool("run_python", {"code": code, **arguments})["structuredContent"]


def warm_up(server, code="pass"):
    """One call, and the wait for what it leaves to be ready for the next."""
    structured = call(server, code)
    assert until_one_waits(server, lambda: call(server, "pass")), structured
    return structured


def test_the_next_call_is_warm(server):
    first = warm_up(server, "print(6 * 7)")
    second = call(server, "print(6 * 7)")
    assert (first["timings"]["warm"], second["timings"]["warm"]) == (False, True)
    assert first["timings"]["ahead"] == 0 < second["timings"]["ahead"]
    for same in ("stdout", "success", "isolation", "containment", "working_directory"):
        assert first[same] == second[same]


def test_a_run_is_as_nice_as_its_environment_says_and_its_supervisor_is_not():
    code = "import os; print(os.nice(0), os.getpriority(os.PRIO_PROCESS, os.getppid()))"
    own = os.nice(0)
    with serving(sessions={}, **config(nice=7)) as server:
        cold = warm_up(server, code)
        warm = call(server, code)
        assert (cold["timings"]["warm"], warm["timings"]["warm"]) == (False, True)
        session = Session(server, code)
        assert {cold["stdout"], warm["stdout"], session.result["stdout"]} == {f"{min(own + 7, 19)} {own}\n"}


def test_a_request_that_stands_alone_leaves_nothing_that_waits():
    """Its directory is its own, so the next one comes to another; unless it names this one."""
    with Watched(transport="http", config=config()) as server:
        server.initialize(wire.MODERN)
        arguments = {"code": "open('a', 'w').write('1')"}
        handle = server.call_tool("run_python", arguments)["structuredContent"]["working_directory"]
        assert not until(lambda: waiting(server), 1)
        arguments = {"code": "print(open('a').read())", "working_directory": handle}
        for warm in (False, True):
            structured = server.call_tool("run_python", arguments)["structuredContent"]
            assert (structured["stdout"], structured["timings"]["warm"]) == ("1\n", warm)
            assert until_one_waits(server, lambda: server.call_tool("run_python", {**arguments, "code": "pass"}))


def test_nothing_waits_for_a_client_that_has_left():
    with Watched(transport="unix", config=config()) as server:
        server.initialize()
        warm_up(server)
        mine = waiting(server)
        other = server.connect()
        other.initialize()
        assert until(lambda: call(other, "pass") and until(lambda: len(waiting(server)) == 2, 15))
        other.close()
        assert until(lambda: waiting(server) == mine)
        assert call(server, "pass")["timings"]["warm"]


def test_a_call_that_is_traced_is_cold(server):
    """The variables of its trace are its own."""
    warm_up(server)
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    answer = server.request("tools/call", {"name": "run_python", "_meta": {"traceparent": trace, **STRUCTURED},
                                           "arguments": {"code": "import os; print(os.environ['TRACEPARENT'])"}})
    assert answer["structuredContent"]["stdout"].startswith("00-0af7651916cd43dd8448eb211c80319c-")
    assert not answer["structuredContent"]["timings"]["warm"]
    assert call(server, "pass")["timings"]["warm"]


SEEDS = "import random, uuid; print(hash('a'), id(object()), random.random(), uuid.uuid4())"


def seeds(server):
    seen = [warm_up(server, SEEDS)["stdout"].split() for _ in range(5)][1:]
    return [len(set(column)) for column in zip(*seen)]


def test_every_fresh_call_has_seeds_of_its_own():
    with serving(**config(start="fresh")) as server:
        assert seeds(server) == [4, 4, 4, 4]


def test_calls_that_are_copies_share_what_python_has_chosen_at_its_start(server):
    assert seeds(server) == [1, 1, 4, 4]


# Below /sys are the machine's own mounts, covered: they come and go with others.
LOOK = """
import json, os, signal, sys, threading
def status(field):
    return [line for line in open('/proc/self/status') if line.startswith(field)]
print(json.dumps({
    'environ': sorted(os.environ), 'argv': sys.argv, 'path': sys.path, 'modules': sorted(sys.modules),
    'cache': sorted(sys.path_importer_cache), 'hooks': len(sys.meta_path), 'names': sorted(globals()),
    'main': [__file__, __name__, str(__spec__), str(__cached__ if '__cached__' in globals() else '')],
    'descriptors': sorted(os.listdir('/proc/self/fd')), 'directory': os.getcwd(), 'flags': str(sys.flags),
    'handlers': [str(signal.getsignal(n)) for n in signal.valid_signals() if n != signal.SIGURG],
    'status': [status(f) for f in ('Cap', 'Seccomp:', 'NoNewPrivs', 'SigBlk', 'SigIgn', 'Uid', 'Gid', 'Groups')],
    'limits': open('/proc/self/limits').read(), 'nice': os.nice(0), 'pid': os.getpid(), 'parent': os.getppid(),
    'session': [os.getsid(0), os.getpgrp()], 'threads': threading.active_count(), 'umask': os.umask(0),
    'mounts': sorted({line.split()[4] for line in open('/proc/self/mountinfo') if ' /sys/' not in line}),
    'command': open('/proc/self/cmdline').read(), 'name': open('/proc/self/comm').read(),
}))
"""


def look(server, is_warm):
    structured = call(server, LOOK)
    assert structured["timings"]["warm"] is is_warm
    text = structured["stdout"].replace(str(server.home), "HOME")
    return json.loads(text.replace(structured["working_directory"], "HANDLE"))


def test_a_script_sees_nothing_of_it():
    with serving(**config(start="cold")) as cold, serving() as server:
        warm_up(server)
        expected, seen = look(cold, False), look(server, True)
        for key, value in expected.items():
            assert seen[key] == value, key


def test_where_the_operator_wants_it_calls_are_cold():
    with serving(**config(start="cold")) as server:
        assert [call(server, "pass")["timings"]["warm"] for _ in range(3)] == [False] * 3
        assert waiting(server) == []


def test_what_is_not_confined_is_started_by_its_call():
    with serving(**config(isolation="none")) as server:
        assert [call(server, "pass")["timings"]["warm"] for _ in range(2)] == [False] * 2
        assert waiting(server) == []


PLANT = """
import os, site
folder = site.getusersitepackages()
os.makedirs(folder)
open(os.path.join(folder, 'usercustomize.py'), 'w').write("open('it-ran', 'a').write('x')")
open(os.path.join(folder, 'planted.pth'), 'w').write("import os; open('it-ran', 'a').write('x')\\n")
"""


def test_nothing_that_a_script_has_planted_runs_before_the_next_call(server):
    """Its own user site is loaded by a Python that starts in its directory."""
    warm_up(server)
    directory = call(server, PLANT)["working_directory"]
    calls = 0

    def planted():
        """What it has done, as a further call sees it."""
        nonlocal calls
        calls += 1
        return call(server, "print(open('it-ran').read())")["stdout"]

    for _ in range(2):
        assert until_one_waits(server, planted)
        assert len(list(server.home.rglob(f"{directory}/it-ran"))) == (calls > 0)
        assert planted() == "xx" * calls + "\n"


def test_files_of_a_call_that_python_loads_when_it_starts_are_loaded(server):
    version = warm_up(server, "import sys; print('%d.%d' % sys.version_info[:2])")["stdout"].strip()
    name = f".local/lib/python{version}/site-packages/usercustomize.py"
    second = call(server, "import os; print(os.environ['SEEN'])",
                  files=[{"path": name, "text": "import os; os.environ['SEEN'] = 'yes'"}])
    assert second["stdout"] == "yes\n", second


def test_a_waiting_python_that_was_killed_costs_nothing(server):
    warm_up(server)
    killed = waiting(server)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    assert until(lambda: not alive(killed))  # which takes a moment
    assert call(server, "print(1)")["stdout"] == "1\n"


def test_a_python_whose_supervisor_was_killed_costs_nothing(server):
    warm_up(server)
    for pid in waiting(server):
        parent = int(read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()[1])
        os.kill(parent, signal.SIGKILL)
    assert call(server, "print(1)")["stdout"] == "1\n"


def test_clients_that_take_turns_stay_warm():
    """More of them than there are processors, and than a few that could be kept."""
    with Watched(config=config(), transport="unix") as server:
        clients = [server] + [server.connect() for _ in range(11)]
        for each in clients:
            each.initialize()
        assert until(lambda: all([call(each, "pass")["timings"]["warm"] for each in clients]), PATIENCE)
        for each in clients[1:]:
            each.close()


def test_calls_at_once_get_their_own(server):
    warm_up(server)
    ids = [server.start_tool("run_python", {"code": f"print({number})"}) for number in range(6)]
    answers = [server.wait(each)["result"]["structuredContent"]["stdout"] for each in ids]
    assert answers == [f"{number}\n" for number in range(6)]


def test_a_directory_that_was_replaced_is_the_new_one(tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    with serving(**config(), working_directory=str(place)) as server:
        warm_up(server, "open('old', 'w')")
        place.rename(tmp_path / "moved")
        place.mkdir()
        structured = call(server, "import os; print(sorted(os.listdir()))")
        assert structured["stdout"] == "['script.py']\n", structured


def test_a_script_py_that_was_replaced_is_not_what_runs(tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    with serving(**config(), working_directory=str(place)) as server:
        warm_up(server)
        other = place / "other.py"
        other.write_text("print('not this')")
        other.rename(place / "script.py")
        assert call(server, "print('this')")["stdout"] == "this\n"


def test_nothing_waits_when_the_server_has_ended():
    with serving() as server:
        warm_up(server)
        pids = waiting(server)
    assert until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))


def test_nothing_waits_when_the_server_was_killed():
    server = Watched(config=config())
    server.initialize()
    warm_up(server)
    pids = waiting(server)
    server.kill()
    assert until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))


def test_a_limit_counts_as_before(server):
    warm_up(server)
    structured = call(server, "x = bytearray(8 << 30)")
    assert structured["timings"]["warm"]
    assert "MemoryError" in structured["stderr"] or structured["out_of_memory"]


def test_a_timeout_is_told_as_before(server):
    def timed_out(timeout):
        warm_up(server)
        return call(server, "print('a', flush=True)\nwhile True: pass", timeout=timeout)

    structured = with_more_time(timed_out, lambda result: "KeyboardInterrupt" in result["stderr"] and result["stdout"])
    assert structured["timings"]["warm"]
    assert structured["timed_out"]
    assert structured["stdout"] == "a\n"
    assert "line 2" in structured["stderr"]
