"""What a million short prints cost beside plain `python3 script.py`; `./dev bench prints` runs it.

    prints.py PROGRAM [--json] [--rounds N]

PROGRAM is a client's server over stdio. Both take turns, and their output goes into a pipe that is read.
Times are those that the script itself measures, so that start and protocol do not count.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "integration")]

from client import Server  # noqa: E402

PYTHON = "/usr/bin/python3"
VARIABLES = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}  # as a run has them
LIMIT = 1.05
TIMEOUT = 300
SCRIPT = """import sys, time
begun = time.process_time(), time.monotonic()
for i in range(1000000):
    print(i)
sys.stdout.flush()
print(time.process_time() - begun[0], time.monotonic() - begun[1], file=sys.stderr)
"""


def plain(script):
    done = subprocess.run([PYTHON, script], env=VARIABLES, capture_output=True, text=True, check=True)
    return list(map(float, done.stderr.split()))


def ours(server):
    result = server.call_tool("run_python", {"code": SCRIPT, "timeout": TIMEOUT}, timeout=TIMEOUT)["structuredContent"]
    assert result["success"] and result["stdout_bytes"] == 6888890, result["stderr"]
    return list(map(float, result["stderr"].split()))


def measure(program, rounds):
    """Medians of the seconds (processor, wall clock) of both, and their ratios."""
    times = {"plain": [], "pyexecd": []}
    with tempfile.TemporaryDirectory() as folder, Server(
            command=[program], config={"default_environment": "it", "environments": {
                "it": {"type": "system", "executable": PYTHON}}}) as server:
        script = pathlib.Path(folder) / "script.py"
        script.write_text(SCRIPT)
        server.initialize()
        for _ in range(rounds):
            times["plain"].append(plain(script))
            times["pyexecd"].append(ours(server))
    medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in times.items()}
    return {**medians, "ratio": [b / a for a, b in zip(medians["plain"], medians["pyexecd"])]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    measured = measure(arguments.program, arguments.rounds)
    if arguments.json:
        print(json.dumps(measured))
    else:
        for index, what in enumerate(["processor time", "wall clock"]):
            print(f"1,000,000 prints, {what}: plain {measured['plain'][index] * 1e3:.0f} ms, "
                  f"pyexecd {measured['pyexecd'][index] * 1e3:.0f} ms, ratio {measured['ratio'][index]:.3f} "
                  f"(at most {LIMIT})")
    return measured["ratio"][0] > LIMIT


if __name__ == "__main__":
    sys.exit(main())
