"""The cgroup of a run is given to the next one when all of its processes are gone. What the first run did is not told of the
next one, and limits it in nothing."""

import contextlib

import pytest

import leftovers
from leftovers import until
from sessions import Session

MEBIBYTE = 1 << 20
SMALL, LARGE = 128 * MEBIBYTE, 512 * MEBIBYTE
ENVIRONMENTS = {
    "small": {"type": "system", "limits": {"memory": SMALL, "processes": 20}},
    "large": {"type": "system", "limits": {"memory": LARGE, "processes": 200}},
}
ROUNDS = 4  # calls until the cgroup of the first one has come round

HOG = "data = bytearray({} << 20)\ndata[::4096] = b'x' * len(data[::4096])"
GREEDY = {
    "much-memory": HOG.format(300),
    "out-of-memory": HOG.format(600),
    "a-large-file": "with open('large', 'wb') as file: file.write(bytes(200 << 20))",
    "processes": "import os, time\nfor _ in range(100):\n    if os.fork() == 0: time.sleep(100)",
    "time": "import time\nwhile time.process_time() < 2: pass",
}
THREADS = """
import threading
go = threading.Event()
started = 0
try:
    for started in range(1, 101):
        threading.Thread(target=go.wait).start()
except RuntimeError:
    pass
go.set()
print(started)
"""


@contextlib.contextmanager
def serve(**more):
    with leftovers.Watched(config={"environments": ENVIRONMENTS, "default_environment": "large", "sessions": {}, **more}) as server:
        server.initialize()
        server.call_tool("run_python", {"code": "pass"})
        if not server.cgroups():
            pytest.skip("no writable cgroup here")
        yield server


def run(server, code, environment="large"):
    return server.call_tool("run_python", {"code": code, "environment": environment}, timeout=100)["structuredContent"]


@pytest.mark.parametrize("greedy", GREEDY)
def test_what_a_run_used_is_not_told_of_the_next_ones(greedy):
    with serve() as server:
        first = run(server, GREEDY[greedy])
        assert first["success"] or first["out_of_memory"] or "MemoryError" in first["stderr"], first
        for _ in range(ROUNDS):
            result = run(server, "print('hello')")
            assert result["stdout"] == "hello\n" and not result["out_of_memory"]
            assert result["usage"]["peak_memory_bytes"] < 50 * MEBIBYTE and result["usage"]["cpu_seconds"] < 1, result["usage"]
        cell = Session(server).run("1")
        assert cell["usage"]["peak_memory_bytes"] < 50 * MEBIBYTE and cell["usage"]["cpu_seconds"] < 1, cell["usage"]


def test_each_run_has_the_limits_of_its_own_environment():
    with serve() as server:
        for _ in range(ROUNDS):
            small = run(server, HOG.format(200), "small")
            assert small["out_of_memory"] or "MemoryError" in small["stderr"], small
            assert run(server, HOG.format(200), "large")["success"]
            assert int(run(server, THREADS, "small")["stdout"]) <= 20
            assert run(server, THREADS, "large")["stdout"] == "100\n"


def numbers(server):
    return [int(path.rpartition("-")[2]) for path in server.cgroups()]


def test_calls_one_after_the_other_make_no_further_cgroups():
    """Once some are there."""
    with serve() as server:
        for _ in range(10):
            run(server, "pass")
        before = max(numbers(server))
        for _ in range(30):
            run(server, "pass")
        assert max(numbers(server)) < before + 30


def empty(server):
    """Its cgroups without a process."""
    return [path for path in server.cgroups() if not leftovers.read(f"{path}/cgroup.procs")]


def test_cgroups_that_nobody_has_asked_for_again_are_removed():
    with serve() as server:
        calls = [server.start_tool("run_python", {"code": "import time; time.sleep(0.5)"}) for _ in range(8)]
        for call in calls:
            server.wait(call)
        assert empty(server)
        assert until(lambda: not empty(server)), server.cgroups()
