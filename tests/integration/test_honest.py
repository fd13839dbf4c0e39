"""Honest scripts do in a sandbox what they do without one: each of honest/ prints the same, ends the same
and leaves the same files. Where a difference is right, such as the machine's name, a script does not
print it; where a file has the time in it, the script removes it."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import client
import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
SCRIPTS = sorted((HERE / "honest").glob("*.py"))
DATA_SCRIPTS = sorted((HERE / "honest" / "data").glob("*.py"))
DATA = ROOT / ".deps" / "data"
UV = ROOT / ".deps" / "tools" / "bin" / "uv"
PYTHON = "/usr/bin/python3"
HOME = pathlib.Path(os.environ.get("HOME", "/nonexistent"))  # of whoever runs the tests
PYENV = sorted(HOME.glob(".pyenv/versions/3.1[0-9]*/bin/python3"))
# What depends most on where a Python and its parts lie.
FOR_EVERY_PYTHON = ["imported_modules", "platform_facts", "processes_by_spawn", "tls_certificates", "users",
                    "venv_inside"]
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
    return {"files": files(folder_of(result["working_directory"])),
            **{name: result[name] for name in ("returncode", "stdout", "stderr", "signal", "error")}}


def folder_of(handle):
    """The working directory that a result calls HANDLE."""
    (folder,) = pathlib.Path(os.environ["XDG_STATE_HOME"], "pyexecd", "work").glob(f"*/{handle}")
    return folder


def files(folder):
    """What is below FOLDER: of each file its mode and a digest of what is in it. Not caches, which have times in
    them, and which a sandbox lacks where the machine has some of its own."""
    found = {}
    for path in folder.rglob("*"):
        if path.relative_to(folder).parts[0] == ".cache":
            continue
        is_file = path.is_file() and not path.is_symlink()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if is_file else None
        found[str(path.relative_to(folder))] = (oct(path.lstat().st_mode), digest)
    return found


@pytest.fixture(scope="module")
def debian():
    with Pair({"type": "system", "executable": PYTHON}) as pair:
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
@pytest.mark.long
@pytest.mark.parametrize("path", DATA_SCRIPTS, ids=lambda path: path.stem)
def test_data_work_is_the_same_in_a_sandbox(data, path):
    data.assert_same(path)


def assert_same_for(definition, **config):
    with Pair(definition, **config) as pair:
        for name in FOR_EVERY_PYTHON:
            pair.assert_same(HERE / "honest" / f"{name}.py")


# The state directory of every test, and with it the venvs and working directories, is below /tmp.
def test_debians_python():
    assert_same_for({"type": "system", "executable": PYTHON})


def test_a_venv_of_the_server():
    assert_same_for({"type": "venv", "python_path": PYTHON})


@pytest.mark.long
@pytest.mark.parametrize("place", ["/tmp", "/var/tmp"])
def test_a_venv_and_work_where_a_sandbox_has_files_of_its_own(place):
    with tempfile.TemporaryDirectory(prefix="pyexecd-test-", dir=place) as folder:
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", f"{folder}/venv"], check=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", f"{folder}/state")
            assert_same_for({"type": "venv", "venv_path": f"{folder}/venv"})


@pytest.mark.long
@pytest.mark.skipif(not PYENV, reason="no pyenv on this machine")
@pytest.mark.parametrize("key", [("system", "executable"), ("venv", "python_path")], ids=" ".join)
def test_pyenvs_python(key):
    kind, named = key
    assert_same_for({"type": kind, named: str(PYENV[-1])})


@pytest.mark.long
@pytest.mark.skipif(not UV.exists(), reason="no uv: ./dev deps test")
def test_a_venv_of_uv(tmp_path):
    base = PYENV[-1] if PYENV else PYTHON
    subprocess.run([UV, "venv", "--offline", "--quiet", "--no-config", "--python", base, tmp_path / "venv"], check=True)
    assert_same_for({"type": "venv", "venv_path": f"{tmp_path}/venv"})


@pytest.mark.skipif(not shutil.which("git") or not pathlib.Path("/etc/gitconfig").exists(),
                    reason="no git, or no settings of the machine for it")
def test_git_works_where_the_settings_of_the_machine_are_closed():
    """Without a root of its own they are there, and not to be read."""
    code = "import subprocess; subprocess.run(['git', 'init', '-q', '.'], check=True)"
    limited = [sys.executable, str(HERE / "limited.py"), "namespaces", "--", os.environ["PYEXECD"]]
    with client.Server(command=limited, config={"environments": {"system": {"type": "system"}}}) as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": code})["structuredContent"]
        assert result["success"] and not result["stderr"], result
