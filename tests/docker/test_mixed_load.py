"""Sixty-four clients call every kind of environment for a while, one call in ten with a hostile program: each
call is answered with what it has to be, and nothing is left.

MIXED_SECONDS in the environment is how long.
"""

import os
import pathlib
import random
import sys
import threading
import time

import box
import leftovers
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hostile"))
import corpus  # noqa: E402

SECONDS = float(os.environ.get("MIXED_SECONDS", "5"))
CLIENTS = 64
ZOMBIES = 4 * CLIENTS  # children of the server that nobody has reaped yet: more than ever end at once
SEED = 20  # any: the same mixture each time
HOSTILE = 0.1
PATIENCE = 900  # seconds, for a call behind all others
ENVIRONMENTS = {"sandbox": 12, "fresh_python": 2, "cold": 2, "unconfined": 2, "venv": 4, "container": 1, "kept": 1}
CODES = {
    "print('done')": lambda result: result["stdout"] == "done\n",
    "import json, re, decimal\nprint(json.dumps([1]))": lambda result: result["stdout"] == "[1]\n",
    "open('left.txt', 'w').write('x' * 1000)\nprint('done')": lambda result: result["stdout"] == "done\n",
    "raise SystemExit(3)": lambda result: result["returncode"] == 3,
    "1 / 0": lambda result: "ZeroDivisionError" in result["stderr"],
}
# These take long by themselves, or all of the machine.
SLOW = {"many_entries", "output_flood", "many_files", "memory", "memory_of_children", "blinds_its_supervisor"}
HOSTILES = [program for program in corpus.at("namespace") if program.name not in SLOW]


class Client(threading.Thread):
    def __init__(self, server, number, end):
        super().__init__()
        self.server, self.end = server, end
        self.choose = random.Random(SEED + number)
        self.wrong = []
        self.calls = 0
        self.is_over = False

    def run(self):
        while time.monotonic() < self.end:
            connection = self.server.connect()
            connection.initialize()
            for _ in range(self.choose.randint(1, 20)):
                self.call(connection)
                if time.monotonic() > self.end:
                    break
            connection.close()
        self.is_over = True

    def call(self, connection):
        (environment,) = self.choose.choices(list(ENVIRONMENTS), ENVIRONMENTS.values())
        arguments = {"environment": environment, "timeout": 600}  # on a machine that has other things to do
        is_right = None
        if self.choose.random() < HOSTILE:
            arguments.update(code=self.choose.choice(HOSTILES).code, timeout=1)
        else:
            arguments["code"], is_right = self.choose.choice(list(CODES.items()))
        result = connection.call_tool("run_python", arguments, timeout=PATIENCE)["structuredContent"]
        self.calls += 1
        if is_right and not is_right(result):
            self.wrong.append((arguments, result))


def zombies(server):
    """How many children of SERVER have ended and are still there."""
    return sum(leftovers.parent_and_state(pid) == (server.process.pid, "Z") for pid in leftovers.processes())


@pytest.mark.heavy
def test_everybody_is_answered_rightly(engine):
    system = {"type": "system", "executable": "/usr/bin/python3"}
    environments = {
        "sandbox": system, "fresh_python": {**system, "start": "fresh"}, "cold": {**system, "start": "cold"},
        "unconfined": {**system, "isolation": "none"}, "venv": {"type": "venv", "python_path": "/usr/bin/python3"},
        "container": {"type": "docker"}, "kept": {"type": "docker", "keep_container_running": True},
    }
    limits = dict.fromkeys(("queued_runs", "connections", "connections_per_client"), 4 * CLIENTS)
    config = {"environments": environments, "keep_for": 0, "limits": limits}
    with box.Box(system, config=config, environment=engine.environment, transport="unix") as server:
        server.initialize()
        for name in environments:
            assert server.run("print(1)", arguments={"environment": name})["success"], name
        clients = [Client(server, number, time.monotonic() + SECONDS) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert zombies(server) < ZOMBIES
        assert leftovers.until(lambda: not zombies(server))
        assert all(client.is_over for client in clients)
        assert not [wrong for client in clients for wrong in client.wrong][:3]
        assert sum(client.calls for client in clients) >= CLIENTS
        assert server.run("print(1)")["stdout"] == "1\n"
        assert leftovers.until(lambda: not server.processes())
