"""What the sandbox costs a cold start; `./dev bench sandbox` runs it.

    sandbox.py PROGRAM [--json] [--rounds N]

PROGRAM is a client's server over stdio, once with `isolation: sandbox` and once without. Beside them: plain
`python3 script.py`, and bubblewrap with the mounts that the sandbox has. All take turns with the same script, so that
whatever else the machine does falls on all alike. Every number is milliseconds, the median of all rounds.
"""

import argparse
import contextlib
import json
import pathlib
import shutil
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
LINKS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
SETTINGS = ["alternatives", "ca-certificates", "debian_version", "default", "fonts", "gai.conf", "host.conf",
            "inputrc", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime", "magic",
            "mime.types", "nsswitch.conf", "os-release", "protocols", "services", "ssl", "terminfo", "timezone"]


def bubblewrap(folder):
    """The command of bubblewrap for the script in FOLDER, with the mounts of runner/root_table.c."""
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr"]
    for path in LINKS:
        if pathlib.Path(path).is_symlink():
            command += ["--symlink", str(pathlib.Path(path).readlink()), path]
        else:
            command += ["--ro-bind-try", path, path]
    for name in SETTINGS:
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    command += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--dir", "/run", "--dir", "/home"]
    return [*command, "--bind", folder, folder, "--chdir", folder, PYTHON, f"{folder}/script.py"]


def timed(command):
    begun = time.perf_counter()
    done = subprocess.run(command, env=VARIABLES, stdin=subprocess.DEVNULL, capture_output=True)
    taken = time.perf_counter() - begun
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr
    return taken * 1000


def called(server, isolation):
    begun = time.perf_counter()
    result = server.call_tool("run_python", {"code": SCRIPT})["structuredContent"]
    taken = time.perf_counter() - begun
    assert (result["stdout"], result["isolation"]) == ("hello\n", isolation), result
    return taken * 1000


@contextlib.contextmanager
def ways(program):
    """What is measured: functions that take a turn and return its milliseconds, by name."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        pathlib.Path(folder, "script.py").write_text(SCRIPT)
        servers = {}
        for isolation in ("none", "sandbox"):
            definition = {"type": "system", "executable": PYTHON, "isolation": isolation}
            server = stack.enter_context(Server(command=[program], config={
                "default_environment": "it", "environments": {"it": definition}}))
            server.initialize()
            servers[isolation] = server
        found = {"plain": lambda: timed([PYTHON, f"{folder}/script.py"]),
                 **{name: lambda name=name: called(servers[name], name) for name in servers}}
        if shutil.which("bwrap"):
            found["bubblewrap"] = lambda: timed(bubblewrap(folder))
        yield found


def measure(program, rounds):
    """Medians by name."""
    times = {}
    with ways(program) as found:
        for i in range(WARM_UP + rounds):
            for name, turn in found.items():
                time.sleep(GAP_SECONDS)
                taken = turn()
                if i >= WARM_UP:
                    times.setdefault(name, []).append(taken)
    return {name: statistics.median(row) for name, row in times.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()
    medians = measure(arguments.program, arguments.rounds)
    ratio = medians["sandbox"] / medians["none"]
    if arguments.json:
        print(json.dumps({**medians, "ratio": ratio}))
    else:
        for name, median in medians.items():
            print(f"{name:<12}{median:8.2f} ms {median / medians['plain']:8.2f} of plain")
        print(f"the sandbox costs {ratio:.3f} of a start without (at most {LIMIT})")
    return ratio > LIMIT or medians["sandbox"] > medians.get("bubblewrap", medians["sandbox"])


if __name__ == "__main__":
    sys.exit(main())
