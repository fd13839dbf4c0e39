"""Honest scripts do in a sandbox what they do without one: each of honest/ prints the same, ends the same
and leaves the same files. Where a difference is right, such as the machine's name, a script does not
print it; where a file has the time in it, the script removes it."""

import hashlib
import os
import pathlib
import shutil
import subprocess

import client
import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
SCRIPTS = sorted((HERE / "honest").glob("*.py"))
DATA_SCRIPTS = sorted((HERE / "honest" / "data").glob("*.py"))
DATA = ROOT / ".deps" / "data"
SECONDS = 300  # on a busy machine


class Pair:
    """A server with one Python, in a sandbox and without one."""

    def __init__(self, definition, **config):
        self.server = client.Server(transport="unix", config={
            "environments": {"inside": {**definition, "isolation": "sandbox"},
                             "outside": {**definition, "isolation": "none"}},
            "default_environment": "outside", "max_timeout": SECONDS, **config})

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *error):
        return self.server.__exit__(*error)

    def assert_same(self, path):
        code = path.read_text()
        # Each has a working directory of its own.
        connections = {name: self.server.connect() for name in ("outside", "inside")}
        calls = {}
        for name, connection in connections.items():
            connection.initialize()
            calls[name] = connection.start_tool("run_python", {
                "code": code, "environment": name, "timeout": SECONDS})
        outside, inside = (facts(connections[name].wait(call, SECONDS + 60)["result"]["structuredContent"])
                           for name, call in calls.items())
        for connection in connections.values():
            connection.close()
        assert outside["returncode"] == 0, outside["stderr"]
        assert outside["stdout"]
        assert inside == outside


def facts(result):
    """What of RESULT does not depend on where and when it ran."""
    assert result["environment"] == "outside" or result["isolation"] == "sandbox", result
    return {"files": files(pathlib.Path(result["working_directory"])),
            **{name: result[name] for name in ("returncode", "stdout", "stderr", "signal", "error")}}


def files(folder):
    """What is below FOLDER: of each file its mode and a digest of what is in it."""
    found = {}
    for path in folder.rglob("*"):
        is_file = path.is_file() and not path.is_symlink()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if is_file else None
        found[str(path.relative_to(folder))] = (oct(path.lstat().st_mode), digest)
    return found


@pytest.fixture(scope="module")
def debian():
    with Pair({"type": "system", "executable": "/usr/bin/python3"}) as pair:
        yield pair


@pytest.fixture(scope="module")
def data():
    if not (DATA / "installed").exists():
        pytest.skip("no .deps/data: ./dev deps installs it")
    with Pair({"type": "venv", "venv_path": str(DATA)}) as pair:
        yield pair


@pytest.mark.once
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_same_in_a_sandbox(debian, path):
    debian.assert_same(path)


@pytest.mark.once
@pytest.mark.parametrize("path", DATA_SCRIPTS, ids=lambda path: path.stem)
def test_data_work_is_the_same_in_a_sandbox(data, path):
    data.assert_same(path)
