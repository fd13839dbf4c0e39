"""What people use instead: plain commands, libraries (peer.py), another server; each a way for measure.take_turns."""

import json
import pathlib
import re
import shutil
import subprocess

from measure import GAP_MS, LeftOut
from stopwatch import Command, Server, Tool

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPENDENCIES = ROOT / ".deps"
PACKAGES = DEPENDENCIES / "bench"  # a Python environment: what is compared, and what the scripts import
LIBRARIES = DEPENDENCIES / "data"  # another one, of the tests of data work
SANDBOX_ROOT = ROOT / "environments/process/runner/root_table.c"  # what every sandbox shows


def python_with_packages():
    python = PACKAGES / "bin" / "python"
    if not (PACKAGES / "installed").exists():
        raise LeftOut("its packages are not installed: `./dev bench` installs them")
    return str(python)


def python_with_libraries():
    python = LIBRARIES / "bin" / "python"
    if not (LIBRARIES / "installed").exists():
        raise LeftOut("they are not installed: `./dev deps test` installs them")
    return str(python)


class Library:
    """A way of peer.py in a process of its own."""

    def __init__(self, bench, name, *arguments):
        self.process = subprocess.Popen(
            [python_with_packages(), pathlib.Path(__file__).with_name("peer.py"), name, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(bench.folder / f"{name}.log", "ab"),
            text=True, cwd=bench.folder, env=bench.variables)
        self.pid = self.process.pid
        if not self.process.stdout.readline():
            raise LeftOut(f"it does not start: {self.last_line(bench.folder / f'{name}.log')}")

    @staticmethod
    def last_line(log):
        return log.read_text().strip().rpartition("\n")[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def way(self, script):
        def call(calls):
            self.process.stdin.write(json.dumps({
                "code": script.code, "count": calls, "gap": GAP_MS / 1000, "expect": script.expect}) + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
            if "error" in answer:
                raise LeftOut(answer["error"])
            return [taken / 1000 for taken in answer["us"]]

        return call


def plain(bench, script):
    """`python3 script.py`, with posix_spawn."""
    return Command(bench, [script.python, script.write(bench.folder)], script.expect)


def bubblewrap(bench, script):
    """bubblewrap with the namespaces and the mounts that a sandbox of ours has."""
    if not shutil.which("bwrap"):
        raise LeftOut("no bwrap: ./dev deps installs it")
    command = [shutil.which("bwrap"), "--unshare-all", "--die-with-parent"]
    for path in re.findall(r'{"(/(?:usr|s?bin|lib|etc)[^"]*)", [A-Z]', SANDBOX_ROOT.read_text()):
        link = pathlib.Path(path)
        if "/etc/" not in path and link.is_symlink():
            command += ["--symlink", str(link.readlink()), path]
        else:
            command += ["--ro-bind-try", path, path]
    command += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--dir", "/run", "--dir", "/home"]
    command += ["--ro-bind-try", DEPENDENCIES, DEPENDENCIES, "--bind", bench.folder, bench.folder, "--chdir", bench.folder]
    return Command(bench, [*command, script.python, script.write(bench.folder)], script.expect)


class Repl:
    """posit's server, a REPL that is kept: names and modules stay from call to call."""

    def __init__(self, bench):
        python_with_packages()
        programs = f"{PACKAGES / 'bin'}:{bench.variables['PATH']}"
        self.server = Server(bench, "mcp-repl", [PACKAGES / "bin" / "mcp-repl", "--interpreter", "python"], PATH=programs)
        self.pid = self.server.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.__exit__()

    def way(self, script):
        return Tool(self.server, "repl", {"input": script.code}, script.expect)


def libraries(bench, stack, wanted):
    """Starts each of WANTED (name -> function that starts it) for as long as STACK; those that started, and why the
    others are left out, by name. None at all for a bench without peers."""
    started, left_out = {}, {}
    for name, start in wanted.items() if bench.has_peers else ():
        try:
            started[name] = stack.enter_context(start())
        except (LeftOut, RuntimeError) as reason:
            left_out[name] = str(reason)
    return started, left_out
