"""Gets a first result from a wheel on a machine that has nothing but Debian and Python.

    wheel.py 12|13 WHEEL UV SDK

For each way to install it one command, which a client of the MCP SDK (that of the interpreter SDK)
starts as its server: from the machine as it was to the result of a first call. UV is the program uv.
Prints a line of JSON for each, and ends with 1 when one has no result.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import host
import machine
import roots

CLIENT = pathlib.Path(__file__).with_name("first_result.py")
PLACE = "/srv"
SECONDS = 300  # however busy this machine is
# What is said goes to standard error: standard output is the client's.
WAYS = {
    "pip": "python3 -m venv venv >&2 && venv/bin/pip install --no-index {wheel} >&2 && exec venv/bin/pyexecd",
    "uvx": "exec ./uvx --offline --from {wheel} pyexecd",
}


def put(files, root):
    for path in files:
        shutil.copy(path, root / PLACE.lstrip("/"))


def first_result(computer, sdk, command):
    """What the client says; its words on standard error are shown."""
    done = subprocess.run(
        [sdk, CLIENT, *computer.command(["sh", "-c", command], PLACE)], text=True, stdout=subprocess.PIPE,
        timeout=SECONDS, env={**machine.ENVIRONMENT, **host.environment()},
        preexec_fn=lambda: machine.join(computer.cgroups))
    return json.loads(done.stdout) if done.returncode == 0 else {"status": done.returncode}


def main(release, wheel, uv, sdk):
    wheel, uv = pathlib.Path(wheel), pathlib.Path(uv)
    suite = roots.RELEASES[release]
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for way, command in WAYS.items():
            with machine.Machine(roots.base(suite, roots.PYTHON), pathlib.Path(folder)) as computer:
                put([wheel, uv, uv.with_name("uvx")], computer.root)
                results.append(first_result(computer, sdk, command.format(wheel=wheel.name)))
                print(json.dumps({"debian": release, "way": way, **results[-1]}), flush=True)
    return any("42" not in result.get("text", "") for result in results)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
