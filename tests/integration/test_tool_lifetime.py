"""Runs that end while their calls of tools are pending leave no process, no descriptor and no request at the server of
tools, however they end.

LIFETIME_RUNS in the environment is how many.
"""

import itertools
import os
import signal

import pytest

import leftovers
from leftovers import Watched
from test_script_tools import TOOLS, shown

RUNS = int(os.environ.get("LIFETIME_RUNS", "64"))
AT_ONCE = 4
PENDING = """
import os, signal, sys, threading, time, tools
tools.test.echo(a=1)
for _ in range(3):
    threading.Thread(target=tools.test.hang, daemon=True).start()
"""
QUESTION = """
threading.Thread(target=lambda: tools.test.write(text="x"), daemon=True).start()
"""
ENDS = {"exit": "sys.exit()", "at once": "os._exit(0)", "killed": "os.kill(os.getpid(), signal.SIGKILL)", "error": "1 / 0",
        "closed": "os.close(tools._descriptor); os._exit(0)", "timeout": "time.sleep(1000)", "cancel": "time.sleep(1000)",
        "fork": "os.fork(); os._exit(0)"}
CONFIG = {"environments": {"it": {"type": "system", "tools": ["test"], "timeout": 3, "max_timeout": 3},
                           "patient": {"type": "system", "tools": ["test"]}}, "tools": TOOLS, "default_environment": "it"}


def nothing_is_held(server):
    return shown(server, "import tools; print(tools.test.held())", environment="patient") == "0"


def runs(server, count):
    """COUNT of them, some at a time, each with another end. Questions are left open; meanwhile no deadline comes."""
    ends = itertools.islice(itertools.cycle(ENDS.items()), count)
    while batch := list(itertools.islice(ends, AT_ONCE)):
        requests = {}
        for name, end in batch:
            code = PENDING + end if name == "timeout" else PENDING + QUESTION + end
            requests[server.start_tool("run_python", {"code": code})] = name
        while requests:
            message = server.receive()
            if message.get("method") == "elicitation/create":
                for request in [request for request, name in requests.items() if name == "cancel"]:
                    server.cancel(request)
                    del requests[request]
            elif "method" not in message:
                requests.pop(message["id"], None)


@pytest.mark.plain
@pytest.mark.heavy
def test_runs_that_end_while_calls_are_pending_leave_nothing():
    with Watched(config=CONFIG) as server:
        server.initialize("2025-11-25", {"elicitation": {}})
        runs(server, len(ENDS))
        assert leftovers.until(lambda: nothing_is_held(server))
        before = leftovers.descriptors(server.process.pid)
        runs(server, RUNS)
        assert leftovers.until(lambda: nothing_is_held(server))
        if before is not None:
            assert leftovers.until(lambda: leftovers.descriptors(server.process.pid) <= before + 4)


@pytest.mark.parametrize("way", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_that_ends_leaves_nothing(way):
    server = Watched(config=CONFIG)
    try:
        server.initialize("2025-11-25", {"elicitation": {}})
        server.start_tool("run_python", {"code": PENDING + QUESTION + "time.sleep(1000)"})
        assert server.receive()["method"] == "elicitation/create"
        children = leftovers.descendants(server.process.pid)
        assert len(children) > 2
        server.process.send_signal(way)
        server.process.wait(60)
        assert leftovers.until(lambda: not leftovers.alive(children))
    finally:
        server.kill()
