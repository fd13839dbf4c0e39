"""The package in python/pyexecd, for the tests of it: on the path, and with servers to connect to."""

import contextlib
import json
import pathlib
import subprocess
import sys
import time

import installed
import ports

FOLDER = installed.ROOT / "python"
sys.path.insert(0, str(FOLDER))

START_SECONDS = 60
CONFIGURATION = {"sessions": {}, "code_blocks": {}}
TOKEN = "0123456789abcdef0123456789abcdef"
# How a client of the package connects.
WAYS = ["stdio", "unix", "tcp", "http", "http over unix"]


def program(folder, code, *arguments, **more):
    """Runs CODE, which uses the package, in a Python of its own."""
    return installed.run(sys.executable, "-c", code, *arguments, home=folder, PYTHONPATH=str(FOLDER),
                         PYEXECD=installed.PYEXECD, **more)


@contextlib.contextmanager
def reached(way, folder, **configuration):
    """The arguments of a client that reaches a server with CONFIGURATION, its files in FOLDER."""
    configuration = {**CONFIGURATION, **configuration}
    if way == "stdio":
        yield {"command": installed.PYEXECD, "config": configuration}
        return
    folder = pathlib.Path(folder)
    socket, port = folder / "socket", ports.free_port()
    address, arguments = {
        "unix": (f"unix:{socket}", {"socket": str(socket)}),
        "tcp": (f"tcp:127.0.0.1:{port}", {"url": f"tcp://127.0.0.1:{port}", "token": TOKEN}),
        "http": (f"http://127.0.0.1:{port}/mcp", {"url": f"http://127.0.0.1:{port}/mcp", "token": TOKEN}),
        "http over unix": (f"unix://{socket}#/mcp", {"url": f"unix://{socket}#/mcp"}),
    }[way]
    if "token" in arguments:
        configuration["token_file"] = written(folder / "token", TOKEN)
    file = written(folder / "pyexecd.yaml", json.dumps({"listen": [address], **configuration}))
    with open(folder / "pyexecd.log", "w", encoding="utf-8") as log:
        process = subprocess.Popen([installed.PYEXECD, "--config", file], stdin=subprocess.DEVNULL, stderr=log,
                                   cwd=folder)
    try:
        wait_for(arguments, process, log.name)
        yield arguments
    finally:
        process.terminate()
        assert process.wait(START_SECONDS) == 0


def written(file, text):
    file.write_text(text)
    file.chmod(0o600)
    return str(file)


def wait_for(arguments, process, log):
    import pyexecd
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            pyexecd.Client(**arguments).close()
            return
        except pyexecd.ConnectionLost:
            assert process.poll() is None and time.monotonic() < deadline, pathlib.Path(log).read_text()
            time.sleep(0.05)
