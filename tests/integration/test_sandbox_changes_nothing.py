"""A script in a sandbox changes nothing that another run, caller or environment reads later."""

import hashlib
import os
import pathlib
import subprocess
import sys

import client
import pytest

PYTHON = "/usr/bin/python3"
LIMITED = [sys.executable, str(pathlib.Path(__file__).with_name("limited.py")), "namespaces", "--"]
TIMEOUT = 300  # seconds: on a busy machine

# Tries to change, remove and add to everything at and below the places, as PLACES names them.
VANDAL = """
import os, pathlib, shutil, stat
changed = []
def attempt(what, *arguments):
    try:
        what(*arguments)
        changed.append([what.__name__, *map(str, arguments)])
    except Exception:
        pass
def overwrite(path):
    with open(path, 'ab') as file:
        file.write(b'planted')
def plant(folder):
    with open(os.path.join(folder, 'planted.py'), 'x') as file:
        file.write('planted')
def move(path):
    os.rename(path, str(path) + '.moved')
def lay_link(folder):
    os.symlink('/nonexistent', os.path.join(folder, 'planted'))
for place in PLACES:
    if os.path.isdir(place):
        for folder, folders, files in os.walk(place):
            attempt(plant, folder)
            attempt(lay_link, folder)
            for name in files[:20]:
                path = os.path.join(folder, name)
                attempt(overwrite, path)
                attempt(os.truncate, path, 0)
                attempt(move, path)
                attempt(os.unlink, path)
    else:
        attempt(overwrite, place)
        attempt(os.unlink, place)
        attempt(os.makedirs, place)
    attempt(move, place)
print('tried')
"""


@pytest.fixture(scope="module", params=["own root", "file rules alone"])
def machine(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("machine")
    (folder / "home" / ".cache" / "pip").mkdir(parents=True)
    (folder / "home" / ".cache" / "pip" / "kept").write_text("a wheel that was fetched before")
    (folder / "home" / ".cache" / "matplotlib").mkdir()
    (folder / "home" / ".cache" / "matplotlib" / "fontlist-v330.json").write_text("{}")
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", folder / "mine"], check=True)
    packages = next((folder / "mine" / "lib").glob("python3*")) / "site-packages"
    (packages / "gadget.py").write_text("VERSION = 1\n")
    config = {"default_environment": "held", "environments": {
        "held": {"type": "system", "isolation": "sandbox"},
        "mine": {"type": "venv", "isolation": "sandbox", "venv_path": f"{folder}/mine"},
        "ours": {"type": "venv", "isolation": "sandbox"},
    }}
    environment = {"HOME": f"{folder}/home", "XDG_STATE_HOME": f"{folder}/state", "PATH": "/usr/bin:/bin"}
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    command = None if request.param == "own root" else [*LIMITED, os.environ["PYEXECD"]]
    try:
        with client.Server(command=command, config=config) as server:
            server.initialize()
            server.place = folder
            layers = run(server, "pass")["containment"]["layers"]
            if layers["own root directory" if command is None else "file rules"] != "enforced":
                pytest.skip(f"this machine has no {request.param}")
            for name in ("mine", "ours"):
                assert run(server, "print(1)", environment=name)["success"]
            yield server
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def run(server, code, **arguments):
    return server.call_tool("run_python", {"code": code, **arguments}, timeout=TIMEOUT)["structuredContent"]


def snapshot(*places):
    """What is at and below PLACES, with its contents."""
    found = {}
    for place in map(pathlib.Path, places):
        for path in [place, *sorted(place.rglob("*"))]:
            if path.is_symlink():
                found[str(path)] = os.readlink(path)
            elif path.is_file():
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
            elif path.is_dir():
                found[str(path)] = "directory"
    return found


def assert_unchanged(server, *places, environment="held"):
    """What a script does in ENVIRONMENT leaves PLACES as they are."""
    before = snapshot(*places)
    assert before, places
    result = run(server, f"PLACES = {[str(place) for place in places]!r}\n{VANDAL}", environment=environment)
    assert result["stdout"] == "tried\n", result
    assert snapshot(*places) == before


def test_its_own_venv_that_the_server_made(machine):
    venvs = machine.place / "state" / "pyexecd" / "venvs"
    assert_unchanged(machine, *venvs.iterdir(), environment="ours")


def test_a_venv_of_another_environment(machine):
    assert_unchanged(machine, *(machine.place / "state" / "pyexecd" / "venvs").iterdir())


def test_a_venv_of_the_operator(machine):
    assert_unchanged(machine, machine.place / "mine", environment="mine")
    assert run(machine, "import gadget; print(gadget.VERSION)", environment="mine")["stdout"] == "1\n"


def test_the_state_of_the_server(machine):
    state = machine.place / "state" / "pyexecd"
    own = ("work", "workplace", "servers", "answers")  # to the last one the server itself adds, when a Python answers
    assert_unchanged(machine, *(path for path in state.iterdir() if path.name not in own),
                     *(state / "answers").glob("*"))


def test_the_working_directory_of_another_caller(machine):
    with client.Server(command=None, config={"default_environment": "held", "environments": {
            "held": {"type": "system", "isolation": "sandbox"}}}) as other:
        other.initialize()
        there = run(other, "import os; open('module.py', 'w').write('X = 1'); print(os.getcwd())")["stdout"].strip()
        run(machine, f"PLACES = [{there!r}, {os.path.dirname(there)!r}]\n{VANDAL}")
        result = run(other, "import module, os; print(module.X, sorted(os.listdir()))")
        assert result["stdout"] == "1 ['module.py', 'script.py']\n", result


def test_the_interpreter_and_its_library(machine):
    """That of the machine: what could be changed is only opened."""
    code = f"""
import os
library = os.path.dirname(os.__file__)
opened = []
for path in ({os.path.realpath(PYTHON)!r}, library + '/os.py', library + '/site.py', library + '/json/__init__.py'):
    try:
        open(path, 'ab').close()
        opened.append(path)
    except OSError:
        pass
for folder in (library, library + '/json', library + '/lib-dynload', '/usr/bin', '/usr/lib'):
    path = folder + '/planted-by-a-script'
    try:
        open(path, 'x').close()
        opened.append(path)
        os.unlink(path)
    except OSError:
        pass
print(opened)
"""
    assert run(machine, code)["stdout"] == "[]\n"


def test_pycache_beside_the_modules(machine):
    """Bytecode that others would load: of the library, and of packages in a venv."""
    library = run(machine, "import os; print(os.path.dirname(os.__file__))")["stdout"].strip()
    packages = next((machine.place / "mine" / "lib").glob("python3*")) / "site-packages"
    code = "import os, py_compile, sys; sys.dont_write_bytecode = False\n" \
           f"for source in ({str(packages / 'gadget.py')!r}, {library + '/this.py'!r}):\n" \
           "    for target in (None, os.path.dirname(source) + '/__pycache__/planted.pyc'):\n" \
           "        try:\n            py_compile.compile(source, target)\n        except OSError:\n            pass\n" \
           "import gadget; print('tried')"
    before = snapshot(packages, f"{library}/__pycache__")
    assert run(machine, code, environment="mine")["stdout"] == "tried\n"
    assert snapshot(packages, f"{library}/__pycache__") == before
    assert_unchanged(machine, packages, environment="mine")


def test_the_cache_of_pip(machine):
    assert_unchanged(machine, machine.place / "home" / ".cache" / "pip", environment="ours")
    assert not (machine.place / "home" / ".config").exists()


def test_the_font_cache_of_matplotlib(machine):
    """Both where programs of the user keep it, and where a script would: HOME of a run is its own."""
    assert_unchanged(machine, machine.place / "home" / ".cache" / "matplotlib")
    code = "import os; home = os.path.expanduser('~'); os.makedirs(home + '/.cache/matplotlib', exist_ok=True)\n" \
           "open(home + '/.cache/matplotlib/fontlist-v330.json', 'w').write('planted'); print(os.getcwd() == home)"
    assert run(machine, code)["stdout"] == "True\n"
    assert (machine.place / "home" / ".cache" / "matplotlib" / "fontlist-v330.json").read_text() == "{}"


def test_shared_memory_and_temporary_files(machine):
    code = "import os\nfor place in ('/tmp', '/dev/shm', '/var/tmp'):\n    try:\n" \
           "        open(place + '/planted-by-a-script', 'w').write('x')\n    except OSError:\n        pass\nprint('tried')"
    assert run(machine, code)["stdout"] == "tried\n"
    for place in ("/tmp", "/dev/shm", "/var/tmp"):
        assert not os.path.exists(f"{place}/planted-by-a-script")
