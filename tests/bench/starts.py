"""What a call costs beside plain `python3 script.py` and what people use instead."""

import contextlib
import functools
import itertools
import pathlib
import re
import subprocess

import measure
import ours
import peers
import scripts
from measure import LeftOut

BASE = "python3 script.py"
REST = 1.5  # of a plain start, after each turn: what is done behind an answer ends
CALLS = 5  # in a turn
LONG_MS, CALLS_OF_LONG = 200, 3  # a plain start, and fewer calls for those that take longer
PINGS = 2000
CALLS_BEFORE_MEMORY = 100
ISOLATIONS = "none", "sandbox"


def scripts_here():
    """Those that can run, and why the others cannot."""
    found, left_out = [scripts.HELLO, scripts.STDLIB], {}
    try:
        found += scripts.with_packages(peers.python_with_packages())
    except LeftOut as reason:
        left_out["numpy, pandas"] = str(reason)
    try:
        found += scripts.with_libraries(peers.python_with_libraries())
    except LeftOut as reason:
        left_out["five libraries"] = str(reason)
    return found, left_out


def servers(bench, stack):
    """Our servers by the name of the way, each with the environments of its isolation, and why others are left out."""
    started, left_out = {}, {}
    for isolation in ISOLATIONS:
        for start, key in ours.starts(bench, "system").items():
            name = f"{ours.NAME}, {isolation}, {start}"
            definition = {"type": "system", "isolation": isolation, **key}
            server = stack.enter_context(ours.server(bench, f"{isolation}-{start}", {
                script.environment: {**definition, "executable": script.python} for script in scripts_here()[0]}))
            try:
                ours.check_isolation(ours.tool(server, scripts.HELLO), isolation)
                started[name] = server
            except LeftOut as reason:
                left_out[name] = str(reason)
    return started, left_out


def wanted_peers(bench):
    """name -> function that starts what is a context manager with way(script)."""
    def library(name, *arguments):
        return functools.partial(peers.Library, bench, name, *arguments)

    return {
        "AG2 VenvPythonEnvironment": library("ag2_venv", peers.PACKAGES),
        "Jupyter kernel (kept)": library("jupyter"),
        "pydantic-monty": library("monty"),
        "llm-sandbox, bubblewrap": library("llm_sandbox"),
        "mcp-repl (kept)": functools.partial(peers.Repl, bench),
    }


def peers_for(bench, python):
    """Those that must be told the PYTHON."""
    return {
        "AG2 SystemPythonEnvironment": functools.partial(peers.Library, bench, "ag2_system", python),
        "AutoGen local executor": functools.partial(peers.Library, bench, "autogen_local", python),
        "sandlock": functools.partial(peers.Library, bench, "sandlock", python, peers.DEPENDENCIES),
    }


def try_out(ways):
    """Those of WAYS that do it once, and why the others do not."""
    able, left_out = {}, {}
    for name, way in ways.items():
        try:
            way(1)
            able[name] = way
        except (LeftOut, RuntimeError) as reason:
            left_out[name] = str(reason)
    return able, left_out


def ways_of(bench, script, ours_started, others):
    """All ways for SCRIPT by name, and what is left out."""
    ways = {BASE: peers.plain(bench, script)}
    left_out = {}
    for name, server in ours_started.items():
        ways[name] = ours.tool(server, script, environment=script.environment)
    try:
        ways["bubblewrap, the sandbox's mounts"] = peers.bubblewrap(bench, script)
    except LeftOut as reason:
        left_out["bubblewrap"] = str(reason)
    ways |= {name: other.way(script) for name, other in others.items()}
    able, unable = try_out(ways)
    return able, left_out | unable


def add_processor(found, ways):
    """What a call takes of the processors, for those whose processes are known."""
    for name, row in found.items():
        if name == BASE or name.startswith(ours.NAME):
            row["processor"] = ways[name].processor()


def measure_script(bench, script, ours_started, others, seconds):
    ways, left_out = ways_of(bench, script, ours_started, others)
    plain_ms = min(ways[BASE](3))
    calls = CALLS if plain_ms < LONG_MS else CALLS_OF_LONG
    rest_ms = max(measure.GAP_MS, REST * plain_ms)
    measure.take_turns(ways, 0, calls, rest_ms)  # what learns from calls has learnt then
    times = measure.take_turns(ways, seconds, calls, rest_ms)
    found = measure.statistics_of(times)
    add_processor(found, ways)
    return {"title": script.title, "ms": measure.add_ratios(found, [BASE]), "left_out": left_out}


def others_for(script, others):
    """Those of OTHERS that SCRIPT is compared with: an import of seconds would take all the time of a run."""
    return {} if script.environment == scripts.BESIDE else others


def resident_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def measure_server(bench):
    """A ping, and what the server itself needs: before the first call, and after many."""
    with ours.server(bench, "ping", {"it": {"type": "system", "executable": scripts.DEBIAN}}) as server:
        pings = measure.statistics_of({"ping": server.pings(PINGS)})["ping"]
        idle = resident_mib(server.pid)
        ours.tool(server, scripts.HELLO)(CALLS_BEFORE_MEMORY)
        return {"ping_ms": pings, "memory_mib": {"idle": idle, "after_100_calls": resident_mib(server.pid)}}


def run(bench, seconds):
    """The report, of which lines() makes text."""
    found, left_out = scripts_here()
    sections = []
    with contextlib.ExitStack() as stack:
        ours_started, not_here = servers(bench, stack)
        others, not_started = peers.libraries(bench, stack, wanted_peers(bench))
        for python, group in itertools.groupby(found, lambda script: script.python):
            with contextlib.ExitStack() as told_stack:
                told, not_told = peers.libraries(bench, told_stack, peers_for(bench, python))
                not_started |= not_told
                sections += [measure_script(bench, script, ours_started, others_for(script, {**others, **told}),
                                            seconds / len(found)) for script in group]
    return {"scripts": sections, **measure_server(bench), "left_out": left_out | not_here | not_started}


TEXT = f"""\
## A call

A client sends the script and reads the whole answer; then it waits {measure.GAP_MS} ms and does so again. Servers are timed
from outside, over stdio, from the first byte of the request to the last byte of the answer; libraries inside the process
that uses them; commands from `posix_spawn` until their output and they have ended. Each way makes {CALLS} calls in its turn
({CALLS_OF_LONG} of a script that takes long), of which the first does not count. Nor does the first turn of each: what is
imported ahead is learnt from it.

What says "kept" runs all scripts in one interpreter: modules that one call has imported are there for the next, and so is
everything else that it left. The processor's time is that of all processes of a call, and of what is done ahead of the
next one.
"""


def lines(report):
    yield from TEXT.splitlines()
    for section in report["scripts"]:
        yield from ["", f"### {section['title']}", "", *measure.times_table(section["ms"]), ""]
        yield from measure.left_out_lines(section["left_out"])
    yield from ["", *measure.left_out_lines(report["left_out"]), ""]
    ping, memory = report["ping_ms"], report["memory_mib"]
    yield (f"A `ping` takes {ping['p50'] * 1000:.0f} us (p95 {ping['p95'] * 1000:.0f}). The server itself needs "
           f"{memory['idle']:.1f} MiB before the first call and {memory['after_100_calls']:.1f} MiB after "
           f"{CALLS_BEFORE_MEMORY}.")


def panels(report):
    return {section["title"]: section["ms"] for section in report["scripts"] if "libraries" not in section["title"]}


def pythons_here():
    """Which they are, in a line."""
    names = {script.python: "" for script in scripts_here()[0]}
    for python in names:
        names[python] = subprocess.run([python, "--version"], capture_output=True, text=True).stdout.strip()
    said = [f"{version} ({'of Debian' if python == scripts.DEBIAN else 'a virtual environment, for packages'})"
            for python, version in names.items()]
    return ", ".join(dict.fromkeys(said))
