"""What the sandbox costs a cold start; `./dev bench sandbox` runs it.

    sandbox.py PROGRAM [--json] [--rounds N]

PROGRAM is a client's server over stdio, once with `isolation: sandbox` and once without. Beside them: plain
`python3 script.py`, and bubblewrap with the mounts that the sandbox has. All take turns with the same script, so that
whatever else the machine does falls on all alike. Times are medians of all rounds. What the processor did for a start
is told beside them, as a busy machine changes that less; the kernel's own work after a namespace has ended is not in it.
"""

import argparse
import contextlib
import ctypes
import functools
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "integration")]

from client import Server  # noqa: E402

PYTHON = "/usr/bin/python3"
SCRIPT = "print('hello')\n"
VARIABLES = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}  # as a run has them
LIMIT = 1.05  # of a start without a sandbox
GAP_SECONDS = 0.012  # between starts, as a model leaves it time and more
WARM_UP = 5
ROOT_TABLE = ROOT / "environments/process/runner/root_table.c"  # what every sandbox shows
PR_SET_CHILD_SUBREAPER = 36
TICKS = os.sysconf("SC_CLK_TCK")


def bubblewrap(folder):
    """The command of bubblewrap for the script in FOLDER, with the namespaces and the mounts that a sandbox has."""
    command = ["bwrap", "--unshare-all", "--die-with-parent"]
    for path in re.findall(r'{"(/(?:usr|s?bin|lib|etc)[^"]*)", [A-Z]', ROOT_TABLE.read_text()):
        link = pathlib.Path(path)
        if "/etc/" not in path and link.is_symlink():
            command += ["--symlink", str(link.readlink()), path]
        else:
            command += ["--ro-bind-try", path, path]
    command += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--dir", "/run", "--dir", "/home"]
    return [*command, "--bind", folder, folder, "--chdir", folder, PYTHON, f"{folder}/script.py"]


def timed(command):
    begun = time.perf_counter()
    done = subprocess.run(command, env=VARIABLES, stdin=subprocess.DEVNULL, capture_output=True)
    taken = time.perf_counter() - begun
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr
    return taken * 1000


def timed_with_orphans(command):
    """The same of a command whose children are not waited for by it."""
    taken = timed(command)
    while os.waitpid(-1, os.WNOHANG)[0]:
        pass
    return taken


def called(server, isolation):
    begun = time.perf_counter()
    result = server.call_tool("run_python", {"code": SCRIPT})["structuredContent"]
    taken = time.perf_counter() - begun
    assert (result["stdout"], result["isolation"]) == ("hello\n", isolation), result
    return taken * 1000


class Turn:
    """A way to start the script: RUN does it and returns its milliseconds, PROCESSOR tells the seconds of the
    processor that all starts have taken so far, what is done ahead of a start included."""

    def __init__(self, run, processor=None):
        self.run = run
        self.processor = processor or self.by_own_children
        self.milliseconds = []
        self.seconds = 0

    def by_own_children(self):
        return self.seconds

    def take(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.milliseconds.append(self.run())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def processor_of(server):
    """The seconds that SERVER and what it has started have taken."""
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


@contextlib.contextmanager
def ways(program):
    """What is measured: turns by name."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        pathlib.Path(folder, "script.py").write_text(SCRIPT)
        found = {"plain": Turn(lambda: timed([PYTHON, f"{folder}/script.py"]))}
        for isolation in ("none", "sandbox"):
            definition = {"type": "system", "executable": PYTHON, "isolation": isolation}
            server = stack.enter_context(Server(command=[program], config={
                "default_environment": "it", "environments": {"it": definition}}))
            server.initialize()
            found[isolation] = Turn(functools.partial(called, server, isolation),
                                    functools.partial(processor_of, server))
        found["bubblewrap"] = Turn(lambda: timed_with_orphans(bubblewrap(folder)))
        yield found


def take_turns(found, rounds):
    for _ in range(rounds):
        for turn in found.values():
            time.sleep(GAP_SECONDS)
            turn.take()


def measure(program, rounds):
    """Milliseconds by name: the median of the starts ("time"), and what each has cost the processor ("processor")."""
    with ways(program) as found:
        take_turns(found, WARM_UP)
        before = {name: turn.processor() for name, turn in found.items()}
        take_turns(found, rounds)
        return {name: {"time": statistics.median(turn.milliseconds[WARM_UP:]),
                       "processor": (turn.processor() - before[name]) * 1000 / rounds}
                for name, turn in found.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()
    found = measure(arguments.program, arguments.rounds)
    ratio = found["sandbox"]["time"] / found["none"]["time"]
    if arguments.json:
        print(json.dumps({**found, "ratio": ratio}))
    else:
        for name, row in found.items():
            print(f"{name:<12}{row['time']:8.2f} ms {row['time'] / found['plain']['time']:6.2f} of plain"
                  f"{row['processor']:8.2f} ms of the processor")
        print(f"the sandbox costs {ratio:.3f} of a start without (at most {LIMIT})")
    return ratio > LIMIT or found["sandbox"]["time"] > found["bubblewrap"]["time"]


if __name__ == "__main__":
    sys.exit(main())
