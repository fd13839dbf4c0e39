"""How many calls a server answers, by the number under way and of clients, what they take of the processors and of the
server's one thread, and what waits in memory for the next."""

import concurrent.futures
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
from stopwatch import CALLS_AT_ONCE, Connection, processor_ms

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


# ---------------------------------------------------------------- many at once

UNDER_WAY = 1, 2, 4, 8, 16, 32
CLIENTS = 1, 4, 16
OF_CLIENTS = 16  # under way, of all clients together


def spent_ms(pid):
    """What PID, all below it and those that they have waited for have taken of the processors so far."""
    total = processor_ms(pid)
    for child in children(pid):
        with contextlib.suppress(OSError):  # it has ended, and counts for its parent
            total += processor_ms(child)
    return total


def thread_ms(pid):
    """What the first thread of PID has taken of a processor so far."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6


def load_of_server(pid, tools, at_once):
    """A turn of TOOLS, each a client's of the server PID, with AT_ONCE calls of each under way."""
    spent, thread = spent_ms(pid), thread_ms(pid)
    with concurrent.futures.ThreadPoolExecutor(len(tools)) as pool:
        done = list(pool.map(lambda tool: tool.many(TURN_SECONDS, at_once), tools))
    count, seconds = sum(each["count"] for each in done), max(each["seconds"] for each in done)
    thread = thread_ms(pid) - thread
    return {"calls_per_second": count / seconds, "processor_ms": (spent_ms(pid) - spent) / count,
            "thread_ms": thread / count, "thread_share": thread / seconds / 1000}


def load_of_plain(command, at_once):
    done = command.many(TURN_SECONDS, at_once)
    return {"calls_per_second": done["count"] / done["seconds"],
            "processor_ms": done["processor_us"] / 1000 / done["count"]}


def medians(turns, seconds):
    """The median of each figure of each of TURNS by name, which follow one another in a shuffled order. The first round
    does not count: what waits for calls is made then."""
    found = {name: [] for name in turns}
    for turn in turns.values():
        turn()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline or not all(found.values()):
        for name in random.sample(list(turns), len(turns)):
            found[name].append(turns[name]())
    return {name: {key: statistics.median(each[key] for each in taken) for key in taken[0]}
            for name, taken in found.items()}


def turns_of(pid, tools, plain):
    """What is measured of the server PID, with TOOLS of as many clients, and of the command PLAIN, by name."""
    turns = {}
    for number in UNDER_WAY:
        turns["plain", number] = functools.partial(load_of_plain, plain, number)
        turns["under way", number] = functools.partial(load_of_server, pid, tools[:1], number)
    for number in CLIENTS:
        turns["clients", number] = functools.partial(load_of_server, pid, tools[:number], OF_CLIENTS // number)
    return turns


def many_at_once(bench, seconds):
    """Calls of hello in a sandbox, beside plain Python with as many under way, and of several clients of one server."""
    place = bench.folder / "many"
    definition = {"type": "system", "executable": scripts.DEBIAN, "isolation": "sandbox",
                  **ours.starts(bench, "system").get("warm", {})}
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(ours.server(bench, "many", {"it": definition}, listen=["stdio", f"unix:{place}"],
                                                 limits={"concurrent_runs": max(UNDER_WAY)}))
        further = [stack.enter_context(Connection(bench, place)) for _ in range(max(CLIENTS) - 1)]
        tools = [ours.tool(client, scripts.HELLO) for client in [server, *further]]
        ours.check_isolation(tools[0], "sandbox")
        found = medians(turns_of(server.pid, tools, peers.plain(bench, scripts.HELLO)), seconds)
    return {kind: {number: row for (of, number), row in found.items() if of == kind}
            for kind in ("plain", "under way", "clients")}


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
    try:
        many = many_at_once(bench, seconds)
    except measure.LeftOut as reason:
        many, not_here["many at once"] = {}, str(reason)
    return {"throughput": sections, "many": many, "inputs": many_inputs(bench),
            "memory": [waiting(bench, script) for script in found], "left_out": left_out | not_here}


def memory_rows(section):
    for name, processes in section["processes"].items():
        total = {what: sum(process[what] for process in processes) for what in ("Private_Dirty", "Pss")}
        cells = [f"{total[what] / 1024:.2f}" for what in ("Private_Dirty", "Pss")]
        yield [f"{section['title']}: {name}", ", ".join(process["name"] for process in processes), *cells]


TEXT = """\
## Many at once

Calls of hello in a sandbox, warm, over one connection. The processor's time is that of all processes, with what is made for
later calls. The server itself has one thread: its time, for a call and as a share of one processor.
"""


def cells_of_server(row):
    return [measure.number(row[key]) for key in ("calls_per_second", "processor_ms", "thread_ms", "thread_share")]


def many_lines(many):
    """The tables of many_at_once."""
    own = ["calls per second", "processor ms a call", "thread, ms a call", "thread, of a processor"]
    rows = []
    yield from TEXT.splitlines()
    yield ""
    for number, row in many["under way"].items():
        plain = many["plain"][number]
        rows.append([str(number), *cells_of_server(row),
                     measure.number(row["calls_per_second"] / plain["calls_per_second"]),
                     measure.number(row["processor_ms"] / plain["processor_ms"])])
    yield from [*measure.table(["under way", *own, f"calls, of `{starts.BASE}` with as many", "processor, of the same"],
                               rows), ""]
    yield from [f"The same with {OF_CLIENTS} under way, of several clients of one server:", ""]
    yield from [*measure.table(["clients", *own], [[str(number), *cells_of_server(row)]
                                                  for number, row in many["clients"].items()]), ""]


def lines(report):
    yield from ["## Throughput", "", f"{CALLS_AT_ONCE} calls are under way at any time.", ""]
    rows = [[f"{section['title']}: {name}", measure.number(rate), measure.number(section["of"][name])]
            for section in report["throughput"]
            for name, rate in sorted(section["calls_per_second"].items(), key=lambda item: item[1])]
    yield from [*measure.table(["", "calls per second", f"of `{starts.BASE}`"], rows), ""]
    yield from many_lines(report["many"]) if report["many"] else []
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
