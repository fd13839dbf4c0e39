"""Tools as functions of a script, beside direct calls of them, each of which passes through the model.

The model is a fixed one (tool_tasks.py), and the servers of tools are ours (tool_upstream.py), so that nothing needs a
network. Direct calls are made by the client of the MCP Python SDK, those of one turn at once.
"""

import contextlib
import io
import json
import os
import pathlib
import statistics
import subprocess
import time

import measure
import ours
import peers
import scripts
import tool_tasks
import tool_upstream
from measure import LeftOut

UPSTREAM = pathlib.Path(__file__).with_name("tool_upstream.py")
PYTHON_OF_SDK = peers.DEPENDENCIES / "mcp"
NODE = peers.DEPENDENCIES / "node" / "bin" / "node"
NODE_SERVERS = peers.DEPENDENCIES / "tool_servers" / "node_modules" / "@modelcontextprotocol"
PYTHON_SERVERS = peers.DEPENDENCIES / "tool_servers_python" / "bin"
SQLITE_SERVER = peers.DEPENDENCIES / "tool_servers_sqlite" / "bin" / "mcp-server-sqlite"
SDK, SCRIPT, PIPES = "MCP Python SDK", "a script", "lines on pipes, no client"
NO_TOOLS, BESIDE, UNUSED = "no server of tools", "an environment without, beside one with", "an environment with tools, unused"
CALLS, AT_ONCE = 90, 8  # of one run
RUN_CALLS = 10
REST_MS = 20
PATIENCE_SECONDS = 120
NOT_LOOKED_AT = "shows its tools"  # what is said of such a server
MOST = {"expenses": 0.06, "catalogue": 0.05, "call": 0.5, "parallel": 1.5, "without": 1.02}
COUNTED = "expenses", "catalogue"  # what is no time


def compared(times, base):
    """Quantiles of each way's TIMES, and its lowest decile as a share of that of BASE: what else the machine does only adds
    to a time, and differently to each."""
    ordered = {name: sorted(taken) for name, taken in times.items()}
    found = {name: {"calls": len(taken), **{f"p{share}": measure.quantile(taken, share / 100) for share in (10, 50, 95)}}
             for name, taken in ordered.items()}
    for row in found.values():
        row["of"] = row["p10"] / found[base]["p10"]
    return found


# ---------------------------------------------------------------- what runs

def command(server, folder):
    return [scripts.DEBIAN, str(UPSTREAM), server, str(folder)]


def configured(commands):
    return {name: {"command": words, "approval": "never"} for name, words in commands.items()}


def server_with_tools(bench, name, commands, **more):
    environment = {"type": "system", "executable": scripts.DEBIAN, "tools": list(commands)}
    return ours.server(bench, name, {"it": environment}, tools=configured(commands), **more)


class Peer:
    """A program in the Python environment of FOLDER that answers lines of JSON."""

    def __init__(self, bench, folder, program, *arguments):
        if not (folder / "installed").exists():
            raise LeftOut(f"{folder.name}: its packages are not installed")
        self.process = subprocess.Popen([folder / "bin" / "python", pathlib.Path(__file__).with_name(program), *arguments],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=bench.folder, text=True,
                                        stderr=open(bench.folder / f"{program}.log", "ab"), env=bench.variables)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def answer(self, order=None):
        if order is not None:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise LeftOut(f"{self.process.args[1].name} has ended")
        return json.loads(line)


@contextlib.contextmanager
def sdk_client(bench, commands):
    with Peer(bench, PYTHON_OF_SDK, "sdk_client.py", json.dumps(commands)) as client:
        client.answer()
        yield client


def calls_of(client):
    def call(calls):
        answer = client.answer({"calls": calls})
        return answer["contents"], answer["ms"][0]

    return call


def runs_of(server):
    def run(code):
        done = server.order("tools/call", {"name": "run_python", "arguments": {"code": code}})
        return json.loads(done["answer"])["result"]["content"][0]["text"], done["us"][0] / 1000

    return run


def described(server, names):
    """What SERVER offers, when it tells of the tools of the servers NAMES: it looks at them in the background."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        tools = server.answer_of("tools/list", {})["tools"]
        if all(name in code_of(tools) for name in names) and NOT_LOOKED_AT not in code_of(tools):
            return tools
        if time.monotonic() > deadline:
            raise LeftOut("the tools have not been looked up in time")
        time.sleep(0.1)


def code_of(tools):
    (found,) = [tool for tool in tools if tool["name"] == "run_python"]
    return found["inputSchema"]["properties"]["code"]["description"]


def for_models(server, tool):
    """What clients give a model of TOOL."""
    return {"name": f"{server}_{tool['name']}", "description": tool["description"], "input_schema": tool["inputSchema"]}


# ---------------------------------------------------------------- six tasks

def tasks(bench, folder, seconds):
    """Of each task and way: its conversation, its turns, and the milliseconds of its calls."""
    commands = {name: command(name, folder) for name in tool_upstream.SERVERS}
    defined = [for_models(name, tool) for name in commands for tool in tool_upstream.definitions(name)]
    tool_tasks.write_readings(folder)
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(sdk_client(bench, commands))
        server = stack.enter_context(server_with_tools(bench, "tasks", commands, results="text"))
        offered = [{"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]}
                   for tool in described(server, commands)]
        return {task.title: one_task(task, folder, seconds / 6, {
            "direct": lambda: tool_tasks.directly(task, defined, calls_of(client)),
            "script": lambda: tool_tasks.by_script(task, offered, runs_of(server))}) for task in tool_tasks.tasks()}


def one_task(task, folder, seconds, ways):
    conversations = {}

    def timed(way):
        def once(_):
            conversations[way], taken = ways[way]()
            if task.title == "files":
                tool_tasks.take_files(folder)
            return [taken]

        return once

    turning = {way: timed(way) for way in ways}
    measure.take_turns(turning, 0, 1, 0)  # starts what has to be
    times = measure.take_turns(turning, seconds, 1, REST_MS)
    return {way: {"conversation": conversations[way], "turns": len(conversations[way].turns),
                  "ms": statistics.median(times[way])} for way in ways}


def count_tokens(found, counter):
    """The tokens of each conversation, in place of it."""
    for ways in found.values():
        for way in ways.values():
            talk = way.pop("conversation")
            if counter:
                texts = iter(counter.answer([part for part in talk.parts if isinstance(part, str)]))
                way["tokens"] = talk.tokens([next(texts) if isinstance(part, str) else part for part in talk.parts])


# ---------------------------------------------------------------- the catalogue

def catalogue_commands(bench, folder):
    """Servers that others have made, those of the tasks, and a code host."""
    if not NODE_SERVERS.exists() or not SQLITE_SERVER.exists():
        raise LeftOut("`./dev deps test` installs the servers of tools")
    repository = bench.folder / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True, env=bench.variables)

    def node(name, *arguments):
        return [str(NODE), str(NODE_SERVERS / f"server-{name}" / "dist" / "index.js"), *map(str, arguments)]

    return {"filesystem": node("filesystem", folder), "memory": node("memory"), "everything": node("everything"),
            "git": [str(PYTHON_SERVERS / "mcp-server-git"), "--repository", str(repository)],
            "time": [str(PYTHON_SERVERS / "mcp-server-time"), "--local-timezone", "UTC"],
            "sqlite": [str(SQLITE_SERVER), "--db-path", str(bench.folder / "shop.db")],
            **{name: command(name, folder) for name in ("host", *tool_upstream.SERVERS)}}


def catalogue(bench, folder, counter):
    """How many tools there are, the tokens of their definitions, and of what a model reads of them."""
    commands = catalogue_commands(bench, folder)
    path = ours.configuration(bench, "listed", {"it": {"type": "system"}}, tools=configured(commands))
    listed = subprocess.run([bench.program, "tools", "list", "--json", "--config", path], capture_output=True, text=True,
                            env=bench.variables)
    if listed.returncode != 0:
        raise LeftOut(listed.stderr.strip().rpartition("\n")[2])
    tools = json.loads(listed.stdout)
    with server_with_tools(bench, "catalogue", commands) as server, \
            ours.server(bench, "bare", {"it": {"type": "system"}}) as bare:
        told = code_of(described(server, commands))
        told = told.replace(code_of(bare.answer_of("tools/list", {})["tools"]), "")
    definitions, guide = counter.answer([json.dumps([for_models(tool["server"], tool) for tool in tools]), told])
    return {"tools": len(tools), "servers": len(commands), "definitions": definitions, "guide": guide}


# ---------------------------------------------------------------- one call, and several at once

ONE_CALL = f"""\
import time
from tools import regions

def once():
    begun = time.perf_counter()
    regions.list_regions()
    return (time.perf_counter() - begun) * 1e3

print([once() for _ in range({CALLS})])
"""

SEVERAL = f"""\
import time, tools
from tools import regions

def taken(names):
    begun = time.perf_counter()
    tools.map(lambda name: regions.measure_region(region=name), names)
    return (time.perf_counter() - begun) * 1e3

names = regions.list_regions()
print([taken(names[:1]), taken(names[:{AT_ONCE}])])
"""


def printed(run, code):
    return tool_tasks.printed_by(run(code)[0])


@contextlib.contextmanager
def pipes(bench, words):
    """What a call costs without a client: makes one line of JSON after the other and does not look at the answers."""
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=bench.variables) as server:
        answers = io.BufferedReader(server.stdout)

        def ask(method, params):
            begun = time.perf_counter()
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
            answers.readline()
            return (time.perf_counter() - begun) * 1e3

        ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "pipes", "version": "1"}})
        yield lambda calls: [ask("tools/call", {"name": "list_regions", "arguments": {}}) for _ in range(calls)]


def one_call(bench, folder, seconds):
    """The milliseconds of a call with each client, and of one and several slow ones by a script. Clients take turns."""
    commands = {"regions": command("regions", folder)}
    with contextlib.ExitStack() as stack:
        by_pipes = stack.enter_context(pipes(bench, commands["regions"]))
        client = stack.enter_context(sdk_client(bench, commands))
        run = runs_of(stack.enter_context(server_with_tools(bench, "call", commands, results="text")))

        def by_sdk(calls):
            return client.answer({"calls": [("regions", "list_regions", {})], "count": calls})["ms"]

        ways = {SDK: by_sdk, SCRIPT: lambda _: printed(run, ONE_CALL), PIPES: by_pipes}
        measure.take_turns(ways, 0, CALLS, REST_MS)
        found = compared(measure.take_turns(ways, seconds * 2 / 3, CALLS, REST_MS), SDK)
        pairs, deadline = [], time.monotonic() + seconds / 3
        while not pairs or time.monotonic() < deadline:
            pairs.append(printed(run, SEVERAL))
    one, several = (statistics.median(values) for values in zip(*pairs))
    return {"call": found, "slow": {"one": one, "several": several}}


# ---------------------------------------------------------------- a run that calls none

def without_calls(bench, folder, seconds):
    """A run that calls no tool, in three servers that take turns."""
    plain = {"type": "system", "executable": scripts.DEBIAN}
    tools = configured({name: command(name, folder) for name in tool_upstream.SERVERS})
    with_tools = {**plain, "tools": list(tools)}
    settings = {NO_TOOLS: ({"it": plain}, {}), BESIDE: ({"it": plain, "other": with_tools}, {"tools": tools}),
                UNUSED: ({"it": with_tools}, {"tools": tools})}
    with contextlib.ExitStack() as stack:
        ways = {name: ours.tool(stack.enter_context(ours.server(bench, f"without-{number}", environments, **more)),
                                scripts.HELLO)
                for number, (name, (environments, more)) in enumerate(settings.items())}
        measure.take_turns(ways, 0, RUN_CALLS, REST_MS)
        return compared(measure.take_turns(ways, seconds, RUN_CALLS, REST_MS), NO_TOOLS)


# ---------------------------------------------------------------- the report

def run(bench, seconds):
    """The report, of which lines() makes text."""
    folder = bench.folder / "tools"
    folder.mkdir()
    report = {"left_out": {}, "load": os.getloadavg()[0]}
    with contextlib.ExitStack() as stack:
        counter = None
        try:
            counter = stack.enter_context(Peer(bench, peers.PACKAGES, "token_counts.py"))
        except LeftOut as reason:
            report["left_out"]["tokens"] = str(reason)
        parts = {"tasks": lambda: tasks(bench, folder, seconds / 4), "calls": lambda: one_call(bench, folder, seconds / 4),
                 "without": lambda: without_calls(bench, folder, seconds / 2)}
        if counter:
            parts["catalogue"] = lambda: catalogue(bench, folder, counter)
        for name, part in parts.items():
            try:
                report[name] = part()
            except LeftOut as reason:
                report["left_out"][name] = str(reason)
        count_tokens(report.get("tasks", {}), counter)
    report["goals"] = goals(report)
    return report


def goals(report):
    """By name: what was measured, and at most what it should be."""
    found = {}
    expenses = report.get("tasks", {}).get("expenses", {})
    if "tokens" in expenses.get("script", {}):
        found["expenses"] = expenses["script"]["tokens"] / expenses["direct"]["tokens"]
    if "catalogue" in report:
        found["catalogue"] = report["catalogue"]["guide"] / report["catalogue"]["definitions"]
    if "calls" in report:
        found["call"] = report["calls"]["call"][SCRIPT]["of"]
        found["parallel"] = report["calls"]["slow"]["several"] / report["calls"]["slow"]["one"]
    if "without" in report:
        found["without"] = report["without"][BESIDE]["of"]
    is_busy = report["load"] > measure.BUSY_LOAD
    return {name: {"measured": value, "most": MOST[name], "end": end_of(name, value, is_busy)} for name, value in found.items()}


def end_of(name, value, is_busy):
    """On a busy machine a time is no evidence."""
    if is_busy and name not in COUNTED:
        return "open: the machine was busy"
    return "met" if value <= MOST[name] else "missed"


TEXT = f"""\
## Tools for scripts

`./dev bench tools`: six tasks, done by a fixed model that needs no network, once by direct calls, all of a turn at once, and
once by one script with `tools`. Both ways have to come to the right answer. Tokens are those of the tokenizer cl100k_base, of
all turns together, where a turn reads all that was there before: definitions, question, calls, results. A picture counts as
its pixels divided by {tool_tasks.PIXELS_PER_TOKEN}. The time is that of the calls, by the client of the MCP Python SDK, or of the run; the
model takes none.
"""
CALL = """A call of a tool that answers at once, over stdio, by a client that makes one after the other. That of a script passes pyexecd on
its way there and back, so the processor changes from process to process four times instead of twice. The last row is what the
server of tools and the pipes take alone, whoever calls:
"""
GOALS = {
    "expenses": "tokens of the expenses task, of those by direct calls",
    "catalogue": "tokens that describe the catalogue, of its definitions",
    "call": "a call by a script, of one by the SDK's client",
    "parallel": f"{AT_ONCE} calls of {tool_upstream.SLOW_SECONDS * 1000:.0f} ms at once, of one",
    "without": "a run in an environment without tools, beside one with, of one in a server without",
}


def task_rows(found):
    for title, ways in found.items():
        direct, script = ways["direct"], ways["script"]
        counted = "tokens" in direct
        yield [title, *(f"{way['tokens']:,}" if counted else "-" for way in (direct, script)),
               measure.number(script["tokens"] / direct["tokens"]) if counted else "-",
               *(str(way["turns"]) for way in (direct, script)), *(measure.number(way["ms"]) for way in (direct, script))]


def compared_table(found, base):
    rows = [[name, *(measure.number(row[key]) for key in ("p10", "p50", "p95", "of")), str(row["calls"])]
            for name, row in found.items()]
    return measure.table(["", "p10 ms", "p50 ms", "p95 ms", f"p10 of `{base}`", "calls"], rows)


def lines(report):
    yield from [*TEXT.splitlines(), ""]
    if "tasks" in report:
        yield from measure.table(["task", "tokens, direct", "script", "of direct", "turns, direct", "script", "ms, direct",
                                  "script"], list(task_rows(report["tasks"])))
    if "catalogue" in report:
        found = report["catalogue"]
        yield from ["", f"A catalogue of {found['tools']} tools of {found['servers']} servers takes {found['definitions']:,} tokens as "
                    f"names, descriptions and schemas of arguments, and {found['guide']:,} in the description of `run_python`."]
    if "calls" in report:
        yield from ["", *CALL.splitlines(), "", *compared_table(report["calls"]["call"], SDK)]
    if "without" in report:
        yield from ["", "A run that calls no tool, in a server that has:", "", *compared_table(report["without"], NO_TOOLS)]
    yield from ["", *measure.table(["goal", "measured", "at most", ""], [
        [GOALS[name], measure.number(goal["measured"]), str(goal["most"]), goal["end"]]
        for name, goal in report["goals"].items()], left=(0, 3))]
    yield from ["", *measure.left_out_lines(report["left_out"])]
