"""How many calls a server answers with four clients' worth of calls under way, and what waits in memory for the next."""

import contextlib
import functools
import pathlib
import random
import re
import statistics
import subprocess
import time

import measure
import ours
import peers
import pyexecd
import scripts
import starts
from stopwatch import CALLS_AT_ONCE

TURN_SECONDS = 1
SETTLE_SECONDS = 0.5
SCRIPTS = "hello", "numpy"
INPUTS = 1000


def rates(ways, seconds):
    """The median rate of each of WAYS by name, after turns in a shuffled order."""
    found = {name: [] for name in ways}
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline or not all(found.values()):
        for name in random.sample(list(ways), len(ways)):
            found[name].append(ways[name].rate(TURN_SECONDS))
    return {name: statistics.median(taken) for name, taken in found.items()}


def throughput(bench, script, servers, seconds):
    ways = {starts.BASE: peers.plain(bench, script),
            **{name: ours.tool(server, script, environment=script.environment) for name, server in servers.items()}}
    able, left_out = starts.try_out(ways)
    found = rates(able, seconds)
    return {"title": script.title, "left_out": left_out, "calls_per_second": found,
            "of": {name: rate / found[starts.BASE] for name, rate in found.items()}}


# ---------------------------------------------------------------- many inputs

def rate_of(function):
    """How many inputs a second FUNCTION does."""
    began = time.monotonic()
    function(range(INPUTS))
    return INPUTS / (time.monotonic() - began)


def many_inputs(bench):
    """Inputs per second of one client, by the way in which it runs a program for each."""
    code = f"def main(n):\n    {scripts.HELLO.code}"
    definition = {"type": "system", "executable": scripts.DEBIAN}
    command = [bench.program, "--config", ours.configuration(bench, "inputs", {"it": definition})]
    environ = {**bench.variables, "XDG_STATE_HOME": str(bench.folder / "state")}
    lines = bench.folder / "inputs.jsonl"
    lines.write_text("".join(f"{n}\n" for n in range(INPUTS)))
    script = scripts.Script("inputs", code, "").write(bench.folder)
    with pyexecd.Client(command, environ=environ) as client:
        client.run_python(scripts.HELLO.code).check()
        return {
            "run_python(), one after the other": rate_of(
                lambda inputs: [client.run_python(scripts.HELLO.code).check() for _ in inputs]),
            "map()": rate_of(lambda inputs: [result.check() for result in client.map(
                code, inputs, parallel=CALLS_AT_ONCE)]),
            "pyexecd map": rate_of(lambda _: subprocess.run(
                [*command[:1], "map", *command[1:], script, lines], env=environ, cwd=script.parent, check=True,
                stdout=subprocess.DEVNULL)),
        }


# ---------------------------------------------------------------- memory

def children(pid):
    """The processes that descend from PID, by their parents."""
    found = []
    with contextlib.suppress(OSError):  # it has ended
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    for child in found:
        yield child
        yield from children(child)


def memory_kib(pid):
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return {what: int(re.search(rf"^{what}:\s+(\d+)", text, re.MULTILINE)[1]) for what in ("Private_Dirty", "Pss")}


def memory_of(pid):
    """What each of the processes below PID is called, and needs."""
    found = []
    for child in children(pid):
        with contextlib.suppress(OSError, TypeError):  # it has ended
            name = pathlib.Path(f"/proc/{child}/comm").read_text().strip()
            found.append({"name": name, **memory_kib(child)})
    return found


def waiting(bench, script):
    """What waits after a call, by way."""
    with contextlib.ExitStack() as stack:
        pids = {}
        for name, server in starts.servers(bench, stack)[0].items():
            ours.tool(server, script, environment=script.environment)(3)
            pids[name] = server.pid
        started, left_out = peers.libraries(bench, stack, {
            "Jupyter kernel (kept)": functools.partial(peers.Library, bench, "jupyter"),
            "mcp-repl (kept)": functools.partial(peers.Repl, bench)})
        for name, peer in started.items():
            peer.way(script)(1)
            pids[name] = peer.pid
        time.sleep(SETTLE_SECONDS)
        return {"title": script.title, "left_out": left_out,
                "processes": {name: memory_of(pid) for name, pid in pids.items()}}


# ---------------------------------------------------------------- the report

def run(bench, seconds):
    found, left_out = starts.scripts_here()
    found = [script for script in found if script.title in SCRIPTS]
    with contextlib.ExitStack() as stack:
        servers, not_here = starts.servers(bench, stack)
        sections = [throughput(bench, script, servers, seconds / len(found)) for script in found]
    return {"throughput": sections, "inputs": many_inputs(bench), "memory": [waiting(bench, script) for script in found],
            "left_out": left_out | not_here}


def memory_rows(section):
    for name, processes in section["processes"].items():
        total = {what: sum(process[what] for process in processes) for what in ("Private_Dirty", "Pss")}
        cells = [f"{total[what] / 1024:.2f}" for what in ("Private_Dirty", "Pss")]
        yield [f"{section['title']}: {name}", ", ".join(process["name"] for process in processes), *cells]


def lines(report):
    yield from ["## Throughput", "", f"{CALLS_AT_ONCE} calls are under way at any time.", ""]
    rows = [[f"{section['title']}: {name}", measure.number(rate), measure.number(section["of"][name])]
            for section in report["throughput"]
            for name, rate in sorted(section["calls_per_second"].items(), key=lambda item: item[1])]
    yield from [*measure.table(["", "calls per second", f"of `{starts.BASE}`"], rows), ""]
    yield from ["## Many inputs", "", f"One client runs a program for each of {INPUTS:,} inputs.", ""]
    first = next(iter(report["inputs"].values()))
    rows = [[name, measure.number(rate), measure.number(rate / first)] for name, rate in report["inputs"].items()]
    yield from [*measure.table(["", "inputs per second", "of the first"], rows), ""]
    yield from ["## Memory that waits", "",
                "What the processes below a server need between two calls (`smaps_rollup`), the server itself not counted.",
                ""]
    rows = [row for section in report["memory"] for row in memory_rows(section)]
    yield from [*measure.table(["", "processes", "private, dirty MiB", "PSS MiB"], rows), ""]
    for section in [*report["throughput"], *report["memory"], report]:
        yield from measure.left_out_lines(section["left_out"])
