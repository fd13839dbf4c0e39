"""Where the time of a call goes: what the kernel's tracer sees of the client, the server and all that it starts.

Nothing is built in for this, and nothing is changed: the tracer notes each system call of the processes with its time,
which costs less than a microsecond each. It takes root and a kernel with tracefs. Shown is the call in the middle, of all.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import tempfile

import load
import ours
import scripts
import starts
from measure import GAP_MS, LeftOut, left_out_lines, number, quantile, table

EVENTS = ("raw_syscalls/sys_enter", "raw_syscalls/sys_exit", "sched/sched_process_fork", "sched/sched_process_exec",
          "sched/sched_process_exit")
BUFFER_KIB = 32768
LINE = re.compile(r"\s*(.+)-(\d+)\s+\[\d+\]\s+\S+\s+([\d.]+): (\w+): (.*)")
WAITS = "poll", "epoll_wait", "read", "recvmsg", "recvfrom", "wait4", "waitid"
WORDS = {"sched_process_fork": "fork", "sched_process_exec": "execve", "sched_process_exit": "exit"}
SHOWN_US = 10
RUNNER = "pyexecd-runner"
OURS = "stopwatch", "pyexecd", RUNNER
WORDS_SHOWN = 6
WARM_UP = 5


def system_calls():
    """Their names by number, as the C library's headers have them."""
    macros = subprocess.run(["cc", "-E", "-dM", "-include", "asm/unistd.h", "-"], input="", capture_output=True, text=True)
    return {int(value): name for name, value in re.findall(r"#define __NR_(\w+) (\d+)\n", macros.stdout)}


class Event:
    """One line of the tracer's."""

    def __init__(self, process, pid, seconds, kind, details):
        self.at = float(seconds) * 1e6
        self.pid = int(pid)
        self.process = RUNNER if process.isdigit() else process  # what is executed by descriptor is called by its number
        self.kind = kind
        self.details = details

    def word(self, names):
        """The system call, or another word."""
        return WORDS.get(self.kind) or names.get(int(self.details.split()[1]), "?")


class Tracer:
    """The kernel's tracer, an instance of our own."""

    def __init__(self, mounted):
        self.folder = mounted / "instances" / f"pyexecd-bench-{os.getpid()}"
        self.folder.mkdir()

    def write(self, path, text):
        (self.folder / path).write_text(f"{text}\n")

    def start(self, pids):
        self.write("trace_clock", "mono")
        self.write("buffer_size_kb", BUFFER_KIB)
        self.write("options/event-fork", 1)
        self.write("set_event_pid", " ".join(map(str, pids)))
        for event in EVENTS:
            self.write(f"events/{event}/enable", 1)

    def end(self):
        """What happened, in order."""
        self.write("tracing_on", 0)
        found = filter(None, map(LINE.match, (self.folder / "trace").read_text(errors="replace").splitlines()))
        return [Event(*one.groups()) for one in found]


@contextlib.contextmanager
def tracer():
    folder = pathlib.Path(tempfile.mkdtemp())
    if subprocess.run(["mount", "-t", "tracefs", "none", folder], capture_output=True).returncode != 0:
        folder.rmdir()
        raise LeftOut("the kernel's tracer takes root, and a kernel that has it")
    try:
        made = Tracer(folder)
        try:
            yield made
        finally:
            made.folder.rmdir()
    finally:
        subprocess.run(["umount", folder])
        folder.rmdir()


def split(events, client, names):
    """The events of each call: from the client's write until it has read the answer."""
    calls, current = [], None
    for event in events:
        if event.pid == client and event.kind == "sys_enter" and event.word(names) in ("write", "clock_nanosleep"):
            if current:
                calls.append(current)
            current = [] if event.word(names) == "write" else None
        if current is not None:
            current.append(event)
    return [until_answer(call, client) for call in calls]


def until_answer(call, client):
    last = max(index for index, event in enumerate(call) if event.pid == client and event.kind == "sys_exit")
    return call[:last + 1]


def without_next(call):
    """CALL without what is made ahead of the next one: a runner that has been started, and its children."""
    parents = {int(found[2]): int(found[1]) for event in call if event.kind == "sched_process_fork"
               and (found := re.search(r" pid=(\d+) .*child_pid=(\d+)", event.details))}
    ahead = {event.pid for event in call if event.kind == "sched_process_exec" and event.process == RUNNER}

    def is_ahead(pid):
        return pid in ahead or (pid in parents and is_ahead(parents[pid]))

    return [event for event in call if not is_ahead(event.pid)]


def name_before_programs(call):
    """The tracer calls a process by its last name; until it executes a program it is the runner's."""
    executes = {event.pid: event.at for event in call if event.kind == "sched_process_exec"}
    for event in call:
        if event.at < executes.get(event.pid, 0):
            event.process = RUNNER
    return call


def whose(event, word, running):
    """The process that the time until EVENT belongs to. That one of ours wakes says nothing while the script runs."""
    if event.process in OURS and event.kind == "sys_exit" and word in WAITS and running:
        return *running[-1], "running"
    return event.pid, event.process, word


def note_running(event, word, running):
    """Keeps RUNNING, the processes of the script that do not wait."""
    if event.process in OURS:
        return
    one = (event.pid, event.process)
    if one in running:
        running.remove(one)
    if event.kind != "sched_process_exit" and (event.kind != "sys_enter" or word not in WAITS):
        running.append(one)


def stretches(call, names):
    """What a call does: at what time, who, for how many microseconds, and those of each system call. A stretch of time
    belongs to the process whose event ends it."""
    found, running, before = [], [], call[0].at
    for event in name_before_programs(call):
        pid, process, word = whose(event, event.word(names), running)
        if not found or (found[-1]["pid"], found[-1]["process"]) != (pid, process):
            found.append({"at": before - call[0].at, "pid": pid, "process": process, "us": 0, "calls": {}})
        taken = event.at - before
        found[-1]["us"] += taken
        found[-1]["calls"][word] = found[-1]["calls"].get(word, 0) + taken
        note_running(event, event.word(names), running)
        before = event.at
    return found


def goes_on(stretch, following):
    return all(stretch[key] == following[key] for key in ("pid", "process"))


def joined(found):
    """Stretches that are too short to be shown go into the one before; and so does what goes on there."""
    shown = []
    for stretch in found:
        if not shown or (stretch["us"] >= SHOWN_US and not goes_on(shown[-1], stretch)):
            shown.append({**stretch, "calls": dict(stretch["calls"])})
            continue
        shown[-1]["us"] += stretch["us"]
        if goes_on(shown[-1], stretch):
            for word, taken in stretch["calls"].items():
                shown[-1]["calls"][word] = shown[-1]["calls"].get(word, 0) + taken
    return shown


def duration(call):
    return call[-1].at - call[0].at


def measure_way(bench, server, script, seconds):
    """The steps of the call in the middle, and what the same takes without the tracer."""
    names = system_calls()
    tool = ours.tool(server, script, environment=script.environment)
    count = max(WARM_UP, int(seconds * 1000 / (GAP_MS + max(tool(WARM_UP)))))
    untraced = sorted(tool(count))
    client = server.stopwatch.process.pid
    with tracer() as trace:
        trace.start([client, server.pid, *load.children(server.pid)])
        tool(count)
        events = trace.end()
    calls = sorted(split(events, client, names), key=duration)
    if not calls:
        raise LeftOut("the tracer saw no call")
    middle = without_next(calls[len(calls) // 2])
    return {"calls": len(calls), "traced_ms": duration(middle) / 1000, "untraced_ms": quantile(untraced, 0.5),
            "stretches": joined(stretches(middle, names))}


def run(bench, seconds):
    report = {"ways": {}}
    with contextlib.ExitStack() as stack:
        servers, report["left_out"] = starts.servers(bench, stack)
        for name, server in servers.items():
            try:
                report["ways"][name] = measure_way(bench, server, scripts.HELLO, seconds / len(servers))
            except LeftOut as reason:
                report["left_out"][name] = str(reason)
    return report


TEXT = f"""\
## Where the time of a call goes

What the kernel's tracer sees of a call of hello: the one in the middle of all by its time. A stretch of time belongs to
the process whose event ends it, so that waking up is part of it; what takes less than {SHOWN_US} us is in the stretch before.
Beside it are the {WORDS_SHOWN} system calls that most of it ends in, where they are {SHOWN_US} us and more. What is made ahead of
the next call goes on at the same time and is left out.
"""


def words(stretch):
    shown = sorted(((taken, word) for word, taken in stretch["calls"].items() if taken >= SHOWN_US), reverse=True)
    return ", ".join(f"{word} {taken:.0f}" for taken, word in shown[:WORDS_SHOWN])


def lines(report):
    yield from TEXT.splitlines()
    for name, way in report["ways"].items():
        yield from ["", f"### {name}", "", f"{way['calls']} calls; {number(way['traced_ms'])} ms, without the tracer "
                    f"{number(way['untraced_ms'])} ms.", ""]
        yield from table(["process", "at us", "us", "of these"], [
            [stretch["process"], f"{stretch['at']:.0f}", f"{stretch['us']:.0f}", words(stretch)]
            for stretch in way["stretches"]], left=(0, 3))
    yield from ["", *left_out_lines(report["left_out"])]
