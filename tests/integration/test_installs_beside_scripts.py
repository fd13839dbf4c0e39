"""Scripts leave things where the operator's own files lead, and would like to rule what is installed for others: an
installer has a network, and its pip is laid out once for everybody."""

import json
import os
import pathlib
import subprocess

import client
import plain_user
import pytest
import wheels

PYTHON = "/usr/bin/python3"
ROOT = pathlib.Path(__file__).resolve().parents[2]
UV = ROOT / ".deps" / "tools" / "bin" / "uv"
TIMEOUT = 300  # seconds: pip starts slowly on a busy machine
GADGET = "import gadget; print(gadget.VERSION)"
WITHOUT_SETTINGS = "packages are installed without settings of pip and uv"


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    plain_user.become(monkeypatch, tmp_path)
    monkeypatch.delenv("PIP_CONFIG_FILE")
    for name in ("packages", "others"):
        (tmp_path / name).mkdir()


@pytest.fixture
def index(tmp_path, monkeypatch):
    wheels.wheel(tmp_path / "packages", "gadget")
    with wheels.Index(tmp_path / "packages") as index:
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        monkeypatch.setenv("PIP_TRUSTED_HOST", index.host)
        yield index


@pytest.fixture
def others(tmp_path):
    """An index that nobody but a script names."""
    wheels.wheel(tmp_path / "others", "gadget", "9.0")
    with wheels.Index(tmp_path / "others") as index:
        yield index


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def serve(work, **held):
    work.mkdir(parents=True, exist_ok=True)
    held = {"type": "system", "isolation": "sandbox", **held}
    return client.Server(config={"environments": {"held": held}, "default_environment": "held",
                                 "working_directory": str(work)})


def call(server, code, **more):
    return server.call_tool("run_python", {"code": code, **more}, timeout=TIMEOUT)["structuredContent"]


def install(server, code=GADGET):
    return call(server, code, environment_definition={"type": "venv", "pip_packages": ["gadget"]})


def plant(server, files):
    """A script of SERVER writes FILES, {path: text}, as programs."""
    code = f"import os\nfor path, text in {files!r}.items():\n" \
           "    os.makedirs(os.path.dirname(path), exist_ok=True)\n" \
           "    if os.path.lexists(path): os.unlink(path)\n" \
           "    open(path, 'w').write(text)\n    os.chmod(path, 0o755)\n"
    result = call(server, code)
    assert result["success"], result


def link(path, target):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def settings(others):
    return f"[global]\nextra_index_url = {others.url}\ntrusted-host = {others.host}\n"


# Where the operator keeps pip.conf, as he links it, and where a script then finds it.
WAYS = {
    "the file": lambda home, work: link(home / ".config/pip/pip.conf", work / "pip.conf"),
    "its folder": lambda home, work: link(home / ".config/pip", work),
    "the folder of settings": lambda home, work: link(home / ".config", work / ".."),
    "an old place": lambda home, work: link(home / ".pip", work),
}


@pytest.mark.parametrize("way", WAYS)
def test_settings_that_lie_among_scripts_do_not_count(tmp_path, home, index, others, way):
    work = tmp_path / "work" / "pip"
    WAYS[way](home, work)
    with serve(work) as server:
        server.initialize()
        plant(server, {f"{work}/pip.conf": settings(others)})
        result = install(server)
        assert result["stdout"] == "1.0\n", result
        assert others.requests == []
        assert WITHOUT_SETTINGS in server.stderr()


def test_settings_behind_a_link_that_scripts_can_exchange_do_not_count(tmp_path, home, index, others):
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "elsewhere").mkdir()
    link(home / ".config/pip", work / "kept")
    link(work / "kept", tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "pip.conf").write_text(settings(others))
    with serve(work) as server:
        server.initialize()
        assert install(server)["stdout"] == "1.0\n"
        assert others.requests == []


def test_settings_in_a_place_that_an_environment_can_write_do_not_count(tmp_path, home, index, others):
    shared = tmp_path / "shared"
    shared.mkdir()
    link(home / ".config/pip/pip.conf", shared / "pip.conf")
    with serve(tmp_path / "work", write=[str(shared)]) as server:
        server.initialize()
        plant(server, {f"{shared}/pip.conf": settings(others)})
        assert install(server)["stdout"] == "1.0\n"
        assert others.requests == []


def test_settings_in_a_folder_that_a_variable_names_do_not_count(tmp_path, monkeypatch, home, index, others):
    monkeypatch.setenv("XDG_CONFIG_DIRS", f"/etc/xdg:{tmp_path / 'work'}")
    work = tmp_path / "work"
    with serve(work) as server:
        server.initialize()
        plant(server, {f"{work}/pip/pip.conf": settings(others)})
        assert install(server)["stdout"] == "1.0\n"
        assert others.requests == []
        assert WITHOUT_SETTINGS in server.stderr()


def test_settings_beside_scripts_count(tmp_path, home, index, others):
    """The other tests would hold, too, if none were read."""
    link(home / ".config/pip/pip.conf", tmp_path / "pip.conf")
    (tmp_path / "pip.conf").write_text(settings(others))
    with serve(tmp_path / "work") as server:
        server.initialize()
        assert install(server)["stdout"] == "9.0\n"
        assert WITHOUT_SETTINGS not in server.stderr()


def test_settings_name_no_other_python(tmp_path, home, index):
    work = tmp_path / "work"
    (home / ".config/pip").mkdir(parents=True)
    (home / ".config/pip/pip.conf").write_text(f"[global]\npython = {work}/python\n")
    with serve(work) as server:
        server.initialize()
        plant(server, {f"{work}/python": "#!/bin/sh\nexit 7\n"})
        result = install(server)
        assert result["stdout"] == "1.0\n", result


@pytest.fixture
def uv():
    if not UV.exists():
        pytest.skip("no uv here")
    return UV.resolve()


def test_settings_of_uv_that_lie_among_scripts_do_not_count(tmp_path, monkeypatch, home, index, others, uv):
    work = tmp_path / "work"
    link(tmp_path / "bin/uv", uv)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    link(home / ".config/uv", work)
    with serve(work) as server:
        server.initialize()
        plant(server, {f"{work}/uv.toml": f"[[index]]\nurl = \"{others.url}\"\n"})
        result = install(server)
        assert result["stdout"] == "1.0\n", result
        assert others.requests == []


@pytest.mark.parametrize("way", ["the program", "its folder", "a link on the way"])
def test_a_uv_that_scripts_can_change_installs_nothing(tmp_path, monkeypatch, home, index, uv, way):
    work = tmp_path / "work"
    work.mkdir()
    if way == "the program":
        link(home / "bin/uv", work / "uv")
    elif way == "its folder":
        link(home / "bin", work)
    else:
        link(home / "bin/uv", work / "kept" / "uv")
        link(work / "kept", home / "kept")
        link(home / "kept/uv", uv)
    monkeypatch.setenv("PATH", f"{home}/bin:/usr/bin:/bin")
    with serve(work) as server:
        server.initialize()
        place = f"{work}/uv"
        if way == "a link on the way":
            assert call(server, f"import os; os.unlink({str(work / 'kept')!r})")["success"]
            place = f"{work}/kept/uv"
        plant(server, {place: "#!/bin/sh\nexit 7\n"})
        result = install(server)
        assert result["stdout"] == "1.0\n", result


# What a Python that imports `site` would execute; it writes what venvs get as their pip.
SITE = """
import atexit, os
def go():
    place = os.getcwd() + "/site-packages/pip"
    if os.path.isdir(os.path.dirname(place)):
        os.makedirs(place, exist_ok=True)
        open(place + "/__init__.py", "w").close()
        open(place + "/__main__.py", "w").write(
            "import os, urllib.request; urllib.request.urlopen(os.environ['PIP_INDEX_URL'] + '/told')")
atexit.register(go)
"""


def test_no_script_lays_out_the_pip_of_all(tmp_path, monkeypatch, index):
    venv = tmp_path / "project"
    work = venv / "work"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", venv], check=True)
    (packages,) = venv.glob("lib/python3*/site-packages")
    (packages / "project.pth").write_text(f"{work}\n")
    monkeypatch.setenv("PATH", f"{venv}/bin:/usr/bin:/bin")
    with serve(work, executable=f"{venv}/bin/python") as server:
        server.initialize()
        plant(server, {f"{work}/sitecustomize.py": SITE})
        result = install(server)
        assert result["stdout"] == "1.0\n", result
        assert "/simple/told" not in index.requests


def test_a_python_of_a_venv_gives_its_own_base_to_venvs(tmp_path, monkeypatch, index):
    venv = tmp_path / "project"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", venv], check=True)
    monkeypatch.setenv("PATH", f"{venv}/bin:/usr/bin:/bin")
    with serve(tmp_path / "work") as server:
        server.initialize()
        result = install(server, "import os, sys; print(os.path.realpath(sys.executable), sys.base_prefix)")
        assert result["stdout"].split() == [os.path.realpath(PYTHON), "/usr"], result
    (facts,) = (tmp_path / "state/pyexecd/pythons").glob("*/facts.json")
    assert json.loads(facts.read_text())["executable"].startswith("/usr/bin/python3")


# The working directory and the state, below a folder; what leads to it; where the fault is.
STATES = {
    "the state lies in it": ("home/.local", "home/.local/state", None),
    "it is the state": ("state/pyexecd", "state", None),
    "it lies in the state": ("state/pyexecd/venvs/x", "state", None),
    "a link of it leads to the state": ("work", "linked", ("linked", "work/kept")),
    "the state is a link into it": ("work", "state", ("state/pyexecd", "work/kept")),
}


def check(tmp_path, monkeypatch, config, state):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / state))
    path = tmp_path / "config.yaml"
    path.write_text(config)
    path.chmod(0o600)
    return subprocess.run([os.environ["PYEXECD"], "--check-config", "--config", path], check=False, capture_output=True,
                          text=True, timeout=60)


@pytest.mark.parametrize("name", STATES)
def test_no_script_works_where_the_state_is(tmp_path, monkeypatch, name):
    work, state, leads = STATES[name]
    (tmp_path / work).mkdir(parents=True)
    if leads:
        (tmp_path / leads[1]).mkdir(parents=True)
        link(tmp_path / leads[0], tmp_path / leads[1])
    config = f"environments: {{s: {{type: system}}}}\nworking_directory: {tmp_path}/{work}\n"
    result = check(tmp_path, monkeypatch, config, state)
    assert result.returncode != 0
    assert f"{tmp_path}/config.yaml:2:20: " in result.stderr and "the server's own state" in result.stderr, result.stderr


@pytest.mark.parametrize("kind", ["system", "docker"])
def test_a_home_is_given_as_it_was(tmp_path, monkeypatch, home, kind):
    """Nothing has a sandbox there; and a program may give it to its container."""
    more = ", image: no-such-image" if kind == "docker" else ""
    config = f"environments: {{s: {{type: {kind}{more}}}}}\nworking_directory: {home}\n"
    result = check(tmp_path, monkeypatch, config, "home/.local/state")
    assert result.returncode == 0, result.stderr


def test_no_script_writes_on_the_way_to_the_state(tmp_path, monkeypatch):
    (tmp_path / "shared").mkdir()
    (tmp_path / "kept").mkdir()
    link(tmp_path / "shared/state", tmp_path / "kept")
    link(tmp_path / "state", tmp_path / "shared/state")
    config = f"environments:\n  s:\n    type: system\n    write: [{tmp_path}/shared]\n"
    result = check(tmp_path, monkeypatch, config, "state")
    assert result.returncode != 0
    assert f"{tmp_path}/config.yaml:4:" in result.stderr and "the server's own state" in result.stderr, result.stderr


def test_nothing_is_installed_for_scripts_that_would_work_in_the_state(tmp_path, monkeypatch, index):
    """The client of one call names the directory, which no configuration has."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "around/state"))
    (tmp_path / "around").mkdir()
    config = tmp_path / "config.yaml"
    config.write_text("environments: {v: {type: system, require: sandbox}}\ncallers: {define_environments: true}\n")
    config.chmod(0o600)
    arguments = {"code": GADGET, "environment_definition": {"type": "venv", "pip_packages": ["gadget"]}}
    asked = {"type": "tool_use", "id": "1", "name": "run_python", "input": arguments}
    result = subprocess.run([os.environ["PYEXECD"], "call", "--config", config, "-w", tmp_path / "around"], check=True,
                            input=json.dumps(asked), capture_output=True, text=True, timeout=TIMEOUT)
    assert "the server's own state" in result.stdout, result
    assert index.requests == []
