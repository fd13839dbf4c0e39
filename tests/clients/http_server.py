"""The program serving HTTP, for the tests of this folder."""

import contextlib
import json
import pathlib
import socket
import subprocess
import time

import installed
import ports

START_SECONDS = 60


@contextlib.contextmanager
def served(folder, port=None, **configuration):
    """Starts the program with CONFIGURATION, its files in FOLDER; the URL that it answers at."""
    url = f"http://127.0.0.1:{port or ports.free_port()}/mcp"
    file = pathlib.Path(folder) / "pyexecd.yaml"
    file.write_text(json.dumps({"listen": [url], "auth": "none", **configuration}))
    file.chmod(0o600)
    with open(file.with_suffix(".log"), "w", encoding="utf-8") as log:
        process = subprocess.Popen([installed.PYEXECD, "--config", str(file)], stderr=log,
                                   stdin=subprocess.DEVNULL, cwd=folder)
    try:
        wait_for(process, int(url.split(":")[2].split("/")[0]), log.name)
        yield url
    finally:
        process.terminate()
        assert process.wait(START_SECONDS) == 0


def wait_for(process, port, log):
    deadline = time.monotonic() + START_SECONDS
    while True:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        assert process.poll() is None and time.monotonic() < deadline, pathlib.Path(log).read_text()
        time.sleep(0.05)
