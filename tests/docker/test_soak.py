"""Hundreds of runs of every kind and end, servers killed between them, and then: nothing is left.

SOAK_RUNS in the environment is how many of them.
"""

import os
import random
import time

import box
import leftovers
import pytest
import snapshot
import wheels

RUNS = int(os.environ.get("SOAK_RUNS", "40"))
AT_ONCE = 4
SEED = 20  # any: the same mixture each time

CODES = {
    "success": "print('done')",
    "failure": "open('left', 'w').write('x'); raise SystemExit(3)",
    "daemon": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\n"
              "print('done')",
    "timeout": "import time; print('begun', flush=True); time.sleep(1000)",
    "cancel": "import os, time\nos.fork()\ntime.sleep(1000)",
}
WEIGHTS = {"success": 5, "failure": 2, "daemon": 1, "timeout": 2, "cancel": 2}
ENVIRONMENTS = {"fresh": 4, "kept": 2, "packed": 1, "venv": 1, "system": 1}
BATCHES_PER_KILL = 8


def is_right(kind, result):
    if kind in ("success", "daemon"):
        return result["success"] and result["stdout"] == "done\n"
    if kind == "failure":
        return result["returncode"] == 3
    return result["timed_out"]


class Soak:
    """One server after the other with the same state."""

    def __init__(self, engine, folder):
        wheels.wheel(folder, "gadget")
        self.index = wheels.Index(folder, engine.gateway).__enter__()
        packages = {"pip_packages": ["gadget"], "pip_index_url": self.index.url}
        self.engine = engine
        self.choose = random.Random(SEED)
        self.definitions = {
            "fresh": {"type": "docker", "image": "volume"},
            "kept": {"type": "docker", "keep_container_running": True},
            "packed": {"type": "docker", **packages},
            "venv": {"type": "venv", "python_path": "/usr/bin/python3"},
        }
        self.first = self.server = self._start()

    def _start(self, **state):
        config = {"environments": self.definitions, "keep_for": 0,
                  "limits": {"concurrent_runs": AT_ONCE}}
        system = {"type": "system", "executable": "/usr/bin/python3"}
        server = box.Box(system, config=config, environment={**self.engine.environment, **state})
        server.initialize()
        return server

    def restart(self):
        """The next server, with the state of the first."""
        if self.server is not self.first:
            self.server.kill()
        self.server = self._start(**self.first.private)

    def warm_up(self):
        """What is made once is made."""
        for name in [*self.definitions, "box"]:
            assert self.server.run(CODES["success"], arguments={"environment": name})["success"]

    def batch(self):
        """Begins a few calls at once and cancels some; returns those to wait for."""
        calls = {}
        for _ in range(AT_ONCE):
            kind = self.choose.choices(list(WEIGHTS), WEIGHTS.values())[0]
            name = self.choose.choices(list(ENVIRONMENTS), ENVIRONMENTS.values())[0]
            timeout = 1 if kind == "timeout" else 300
            call = self.server.start(CODES[kind], timeout=timeout,
                                     environment="box" if name == "system" else name)
            calls[call] = (kind, name)
        time.sleep(self.choose.random())
        for call, (kind, _) in calls.items():
            if kind == "cancel":
                self.server.cancel(call)
        return {call: each for call, each in calls.items() if each[0] != "cancel"}

    def settle(self, calls):
        """Waits for CALLS and looks at what came of them."""
        for call, (kind, name) in calls.items():
            result = self.server.wait(call, 400)["result"]["structuredContent"]
            assert is_right(kind, result), (kind, name, result)

    def kill(self):
        """kill -9, in the middle of whatever runs."""
        self.server.process.kill()
        self.server.process.wait()
        self.restart()

    def end(self):
        """One more server has swept, and has ended as it should."""
        self.kill()
        leftovers.until(lambda: not running(self.engine))
        self.restart()
        self.warm_up()
        assert self.server.stop() == 0, self.server.stderr()

    def close(self):
        for server in {self.server, self.first}:
            server.kill()
        self.index.__exit__()


def running(engine):
    return engine.api.get("/containers/json")


@pytest.fixture
def soak(engine, tmp_path):
    soak = Soak(engine, tmp_path)
    yield soak
    soak.close()


@pytest.mark.first
def test_mixed_runs_leave_nothing(soak, engine):
    before = snapshot.take(engine)
    soak.warm_up()
    soak.end()
    files = soak.first.files()
    images = snapshot.images(engine.api)
    soak.restart()
    for number in range(1, RUNS // AT_ONCE + 1):
        calls = soak.batch()
        if number % BATCHES_PER_KILL == 0:
            soak.kill()
        else:
            soak.settle(calls)
    soak.end()
    assert not snapshot.added(engine, before)
    assert snapshot.images(engine.api) == images, "nothing but what was cached already"
    assert not soak.first.processes()
    assert soak.first.files() == files
