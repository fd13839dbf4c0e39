"""What a cell of a session costs, and the start of one, beside Jupyter kernels."""

import contextlib
import functools
import json

import measure
import ours
import peers
import scripts
import starts
from measure import LeftOut
from stopwatch import Tool

KERNEL, EXECUTOR = "Jupyter kernel (jupyter_client, ipykernel)", "AutoGen JupyterCodeExecutor"
CELLS, STARTS = 5, 2  # in a turn
REST_MS = 100
SESSIONS = {"sessions": {"number": 4, "number_per_client": 4}}


def session_of(answer):
    return answer["structuredContent"]["session"]["name"]


class Beginning:
    """A way that begins a session with a first cell, and closes it after it was timed."""

    def __init__(self, server, script):
        self.server = server
        self.script = script

    def __call__(self, calls):
        return [self.begin_one() for _ in range(calls)]

    def begin_one(self):
        done = self.server.order("tools/call", expect=self.script.expect, count=1, params={
            "name": "run_python", "arguments": {"code": self.script.code, "session": "new"}})
        name = session_of(json.loads(done["answer"])["result"])
        self.server.answer_of("tools/call", {
            "name": "manage_sessions", "arguments": {"action": "close", "session": name}})
        return done["us"][0] / 1000


def cell(server, script):
    """The way of a cell in a session that is there."""
    first = Tool(server, "run_python", {"code": script.code, "session": "new"}, script.expect)
    return ours.tool(server, script, session=session_of(first.result()))


def our_ways(bench, stack, make):
    """What MAKE makes for a server of each isolation, by name, and why one is left out."""
    ways, left_out = {}, {}
    for isolation in starts.ISOLATIONS:
        name = f"{ours.NAME}, {isolation}"
        environment = {"type": "system", "isolation": isolation, "executable": scripts.DEBIAN}
        server = stack.enter_context(ours.server(bench, f"{make.__name__}-{isolation}", {"it": environment}, **SESSIONS))
        try:
            ours.check_isolation(ours.tool(server, scripts.HELLO), isolation)
            ways[name] = make(server, scripts.HELLO)
        except LeftOut as reason:
            left_out[name] = str(reason)
    return ways, left_out


def measure_ways(bench, make, libraries, calls, seconds):
    with contextlib.ExitStack() as stack:
        ways, left_out = our_ways(bench, stack, make)
        wanted = {name: functools.partial(peers.Library, bench, library) for name, library in libraries.items()}
        others, not_started = peers.libraries(bench, stack, wanted)
        ways |= {name: other.way(scripts.HELLO) for name, other in others.items()}
        able, unable = starts.try_out(ways)
        times = measure.take_turns(able, seconds, calls, REST_MS)
        return {"ms": measure.add_ratios(measure.statistics_of(times), [KERNEL, EXECUTOR]),
                "left_out": left_out | not_started | unable}


def run(bench, seconds):
    """The report, of which lines() makes text."""
    return {"cell": measure_ways(bench, cell, {KERNEL: "jupyter", EXECUTOR: "autogen_jupyter"}, CELLS, seconds / 2),
            "start": measure_ways(bench, Beginning, {KERNEL: "jupyter_start", EXECUTOR: "autogen_jupyter_start"},
                                  STARTS, seconds / 2)}


def lines(report):
    for part, title, text in (
            ("cell", "A cell of a session", "A cell that prints a line, in a Python that is kept."),
            ("start", "The start of a session", "From the request, or the call of the library, until the first cell has "
             "been answered. The end of it does not count.")):
        yield from [f"## {title}", "", text, "", *measure.times_table(report[part]["ms"]), "",
                    *measure.left_out_lines(report[part]["left_out"]), ""]
