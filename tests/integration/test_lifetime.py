"""Nothing that a script starts outlives its call, however hard it tries: not for a moment, and neither
when the server is killed nor after hundreds of runs. That each hostile program is held at each level of
containment is shown in tests/hostile, whose programs are run here.

LIFETIME_RUNS in the environment is how many runs have to leave nothing behind.
"""

import itertools
import os
import pathlib
import signal
import time

import leftovers
import pytest
from leftovers import Watched

RUNS = 60 if leftovers.sanitized() else int(os.environ.get("LIFETIME_RUNS", "100"))

STARTED = 10  # seconds, in which a script has begun on any machine
GRACE = 20.0  # seconds from the end of a script, or its timeout, to its answer, on any machine
INTERRUPTED = 0.5  # seconds that a script gets at its deadline

pytestmark = pytest.mark.heavy

HOSTILE = pathlib.Path(__file__).resolve().parents[1] / "hostile" / "programs"

# What a program prints, it prints as the last thing that it does; here it is the time.
PRINTS_THE_TIME = """
import builtins, time
def print(_, **how):
    builtins.print(time.time(), **how)
"""


def program(name):
    return (HOSTILE / f"{name}.py").read_text()


ENDS = {name: PRINTS_THE_TIME + program(name)
        for name in ("daemon", "background_child", "closed_descriptors", "stopped_children")}
NEVER_ENDS = {name: program(name) for name in ("fork_bomb", "stops_itself")}
ALL = {**ENDS, **NEVER_ENDS}


def cases(codes):
    return pytest.mark.parametrize("code", codes.values(), ids=codes.keys())


@pytest.fixture
def server():
    with Watched() as server:
        server.initialize()
        server.call_tool("run_python", {"code": "pass"})  # finds the interpreter
        yield server


@pytest.fixture
def victim():
    """A server that the test kills."""
    server = Watched()
    yield server
    server.kill()


def kill(server):
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()


@cases(ENDS)
def test_answer_comes_with_the_end_of_the_script(server, code):
    result = server.call_tool("run_python", {"code": code})["structuredContent"]
    now = time.time()
    assert result["success"], result
    assert now - float(result["stdout"]) < GRACE
    assert not server.survivors(0)


@cases(NEVER_ENDS)
def test_answer_comes_with_the_timeout(server, code):
    before = time.monotonic()
    result = server.call_tool("run_python", {"code": code, "timeout": STARTED})["structuredContent"]
    assert STARTED <= time.monotonic() - before < STARTED + INTERRUPTED + GRACE
    assert result["timed_out"] and not result["success"]
    assert result["stdout"].endswith("ing\n"), "what was printed before the end is kept"
    assert not server.survivors(0)


@cases(ALL)
def test_nothing_survives_a_killed_server(victim, code):
    victim.initialize()
    stays = code.removesuffix("os._exit(0)\n") + "\n__import__('time').sleep(1000)"
    victim.start_tool("run_python", {"code": stays})
    assert leftovers.until(victim.processes), "the script has started"
    time.sleep(0.2)  # it is in the middle of what it does
    below = leftovers.descendants(victim.process.pid)
    kill(victim)
    assert not victim.survivors()
    assert leftovers.until(lambda: not leftovers.alive(below)), "supervisors and prepared runners too"


def test_next_server_removes_the_cgroups_of_a_killed_one(victim, server):
    victim.initialize()
    victim.call_tool("run_python", {"code": "pass"})
    if not victim.cgroups():
        pytest.skip("no writable cgroup here")
    below = leftovers.descendants(victim.process.pid)
    kill(victim)
    # A cgroup whose last process still ends, or has not been reaped, cannot be removed.
    assert leftovers.until(lambda: not any(map(leftovers.exists, below)))
    with Watched() as next_server:
        next_server.initialize()
        next_server.call_tool("run_python", {"code": "pass"})
        assert not victim.cgroups()


def run_all(server, codes):
    """Runs CODES, four at a time, which is as many as the server has places for."""
    pending = []
    for code in codes:
        if len(pending) == 4:
            yield server.wait(pending.pop(0))
        timeout = 0.2 if code in NEVER_ENDS.values() else 20
        arguments = {"code": code, "timeout": timeout}
        pending.append(server.start_tool("run_python", arguments))
    for request in pending:
        yield server.wait(request)


def look(server):
    """What a server has."""
    pid = server.process.pid
    return {
        "processes": server.survivors(),
        "zombies": leftovers.until(lambda: not leftovers.zombies(pid)) or leftovers.zombies(pid),
        "cgroups": len(server.cgroups()),
        "files": server.files(),
        "descriptors": leftovers.descriptors(pid),
    }


def measure(server):
    """What a server has that is idle again: for half a second nothing comes or goes."""
    def seen():
        before = look(server)
        time.sleep(0.5)
        return before if look(server) == before else None
    quiet = leftovers.until(seen)
    assert quiet
    return quiet


def grown(before, now):
    """What there is more of. What waits for calls may have become less."""
    return {what: now[what] for what in before
            if (now[what] > before[what] if isinstance(now[what], int) else now[what] != before[what])}


def test_hundreds_of_runs_leave_nothing(server):
    codes = itertools.cycle(ALL.values())
    list(run_all(server, itertools.islice(codes, 60)))  # all there is to grow has grown
    before, memory = measure(server), leftovers.status_kib(server.process.pid, "VmRSS")
    outcomes = [answer["result"]["structuredContent"]
                for answer in run_all(server, itertools.islice(codes, RUNS))]
    assert len(outcomes) == RUNS
    assert all(outcome["success"] or outcome["timed_out"] for outcome in outcomes)
    leftovers.until(lambda: not grown(before, look(server)))
    assert not grown(before, measure(server))
    if not leftovers.sanitized():  # its allocator keeps what is freed
        assert leftovers.status_kib(server.process.pid, "VmRSS") - memory < 1024
