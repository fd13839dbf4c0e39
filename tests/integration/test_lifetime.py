"""Nothing that a script starts outlives its call, however hard it tries.

LIFETIME_RUNS in the environment is how many runs have to leave nothing behind.
"""

import itertools
import os
import signal
import time

import leftovers
import pytest
from leftovers import Watched

RUNS = 120 if leftovers.sanitized() else int(os.environ.get("LIFETIME_RUNS", "200"))

STARTED = 10  # seconds, in which a script has begun on any machine
GRACE = 20.0  # seconds from the end of a script, or its timeout, to its answer, on any machine
INTERRUPTED = 0.5  # seconds that a script gets at its deadline

pytestmark = pytest.mark.serial

# These print the time as the last thing they do.
ENDS = {
    "daemon, forked twice": """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        time.sleep(1000)
    os._exit(0)
os.wait()
print(time.time())
""",
    "background child that holds stdout": """
import subprocess, time
subprocess.Popen(["sleep", "1000"])
print(time.time())
""",
    "closes its descriptors": """
import os, time
print(time.time(), flush=True)
if os.fork() == 0:
    os.closerange(0, 4096)
    time.sleep(1000)
os.closerange(0, 4096)
os._exit(0)
""",
    "stops its children": """
import os, signal, time
for _ in range(3):
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(1000)
time.sleep(0.02)
print(time.time())
""",
}

NEVER_ENDS = {
    "ignores SIGTERM and forks": """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("forking", flush=True)
while True:
    try:
        os.fork()
    except OSError:
        pass
""",
    "stops itself": """
import os, signal
print("stopping", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
""",
}

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


BLINDS = """
import os, resource, time
resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))
if os.fork() == 0:
    if os.fork() == 0:
        time.sleep(0.05)  # the end of an orphan wakes the supervisor
    os._exit(0)
os.wait()
time.sleep(1000)
"""


def test_a_script_that_keeps_its_supervisor_from_watching_is_killed(server):
    arguments = {"code": BLINDS, "timeout": 50}
    result = server.call_tool("run_python", arguments)["structuredContent"]
    if result["containment"]["process_tree"] != "pid namespace":
        pytest.skip("the supervisor is out of a script's reach where it is not in its namespace")
    assert result["signal"] == "SIGKILL" and not result["timed_out"], result
    assert not server.survivors(0)


@cases(ALL)
def test_nothing_survives_a_killed_server(victim, code):
    victim.initialize()
    stays = code.removesuffix("os._exit(0)\n") + "time.sleep(1000)"
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
    pid = victim.process.pid
    if not leftovers.cgroups(pid):
        pytest.skip("no writable cgroup here")
    kill(victim)
    with Watched() as next_server:
        next_server.initialize()
        next_server.call_tool("run_python", {"code": "pass"})
        assert not leftovers.cgroups(pid)


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
        "cgroups": len(leftovers.cgroups(pid)),
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


def test_hundreds_of_runs_leave_nothing(server):
    codes = itertools.cycle(ALL.values())
    list(run_all(server, itertools.islice(codes, 60)))  # all there is to grow has grown
    before, memory = measure(server), leftovers.status_kib(server.process.pid, "VmRSS")
    outcomes = [answer["result"]["structuredContent"]
                for answer in run_all(server, itertools.islice(codes, RUNS))]
    assert len(outcomes) == RUNS
    assert all(outcome["success"] or outcome["timed_out"] for outcome in outcomes)
    leftovers.until(lambda: look(server) == before)
    assert measure(server) == before
    if not leftovers.sanitized():  # its allocator keeps what is freed
        assert leftovers.status_kib(server.process.pid, "VmRSS") - memory < 1024
