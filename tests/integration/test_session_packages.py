"""`%pip install` in the cells of a session."""

import json
import os
import pathlib
import subprocess
import sys

import client
import leftovers
import plain_user
import pytest
import sessions
import wheels
from sessions import call, text_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
UV = ROOT / ".deps" / "tools" / "bin" / "uv"
TIMEOUT = 300  # seconds: pip starts slowly on a busy machine
VERSION = "import gadget; print(gadget.VERSION)"
CHILD = f"import subprocess, sys; print(subprocess.check_output([sys.executable, '-c', {VERSION!r}], text=True))"


@pytest.fixture
def index(tmp_path, monkeypatch):
    plain_user.become(monkeypatch, tmp_path)
    folder = tmp_path / "packages"
    folder.mkdir()
    wheels.wheel(folder, "gadget", "1.0")
    wheels.wheel(folder, "gadget", "2.0")
    wheels.wheel(folder, "widget", "3.0", requires=["gadget"], programs={"widget": "widget:main"},
                 modules={"widget.py": "def main(): print('widget runs')\n"})
    with wheels.Index(folder) as index:
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        yield index


def serve(**more):
    return client.Server(config={"sessions": {"number": 20, "number_per_client": 20}, **more})


@pytest.fixture
def server(index):
    with serve() as server:
        server.initialize()
        yield server


class Session(sessions.Session):
    def __init__(self, server, code="pass", fork=None, **more):
        super().__init__(server, code, fork, timeout=more.pop("timeout", TIMEOUT), **more)

    def fails(self, code):
        result = self.run(code, timeout=TIMEOUT)
        assert not result["success"], result
        return self.text

    def manage(self, action):
        return text_of(self.server.call_tool("manage_sessions", {"action": action, "session": self.name}))


def kept(tmp_path):
    """What sessions have installed, and is still there."""
    places = (tmp_path / "state" / "pyexecd" / "packages").glob("private-*/*/*")
    return sorted(str(path) for path in places)


def rest(tmp_path):
    """All that is left of that, on its way out or not."""
    state = tmp_path / "state" / "pyexecd"
    files = [os.path.join(place, name) for place, _, names in os.walk(state / "packages") for name in names]
    return sorted(files) + sorted(str(path) for path in (state / "venvs").glob(".*"))


@pytest.mark.parametrize("line", [
    "%pip install gadget==1.0", "!pip install -q 'gadget<2'", "!pip3 install gadget==1.0", "!python -m pip install gadget==1.0",
    "!uv pip install gadget==1.0", "%uv pip install gadget==1.0", "! pip install --quiet \"gadget<2\"",
    "!{sys.executable} -m pip install gadget==1.0", "pip install gadget==1.0", "%pip install \\\r\n  gadget==1.0\r\n"])
def test_a_cell_installs_what_it_imports(server, line):
    session = Session(server, f"import os\n{line}\n{VERSION}")
    assert session.result["stdout"] == "1.0\n", session.text
    assert "Installed for this session: gadget 1.0." in session.text


def test_a_session_that_has_variables_keeps_them(server):
    Session(server).manage("close")
    session = Session(server, "x = 41")
    assert session.shown(f"%pip install widget gadget==2.0\n{VERSION}; print(x + 1)", timeout=TIMEOUT) == "2.0\n42"
    assert "Installed for this session: widget 3.0, gadget 2.0." in session.text
    assert session.shown("import widget; widget.main()") == "widget runs"


def test_programs_that_a_cell_starts_find_it(server):
    session = Session(server, f"%pip install widget gadget==1.0\n{CHILD}")
    assert session.result["stdout"].strip() == "1.0", session.text
    assert session.shown("import subprocess; print(subprocess.check_output('widget', text=True))") == "widget runs"


def test_the_lines_of_a_traceback_stay_what_they_were(server):
    session = Session(server)
    assert "<cell 2>\", line 3" in session.fails("\n%pip install gadget\nraise ValueError")


def test_a_command_over_two_lines_is_one(server):
    session = Session(server)
    assert "<cell 2>\", line 4" in session.fails("\n%pip install gadget \\\n    widget\nimport gadget, widget; raise ValueError")


def test_a_new_session_has_imported_nothing_before(server):
    assert "What was imported before" not in Session(server, "%pip install gadget").text


def test_what_comes_later_is_added(server):
    session = Session(server, "%pip install gadget==1.0")
    assert session.shown(f"%pip install widget\nimport widget; {VERSION}", timeout=TIMEOUT) == "1.0"


@pytest.mark.parametrize("word", ["-r requirements.txt", "http://x/gadget.whl", "./gadget", "-e .", "gadget && ls",
                                  "--no-deps gadget", "git+ssh://x/gadget", "gadget @ file:///x",
                                  "", "'; ls'", "../gadget", "gadget==1.0;python_version>'3'", "--target=/tmp gadget"])
def test_only_packages_by_name_are_installed(server, index, word):
    session = Session(server, "x = 1")
    answer = call(server, f"x = 2\n%pip install {word}", session.name)
    assert answer["isError"] and "nothing ran: line 2 may only name packages" in text_of(answer), text_of(answer)
    assert session.shown("print(x)") == "1"
    assert index.requests == []


@pytest.mark.parametrize("code", ["'''\n%pip install gadget\n'''", "x = '''\n!pip install gadget'''", "if 1:\n    '%pip install gadget'",
                                  "# %pip install gadget"])
def test_a_text_installs_nothing(server, index, code):
    assert Session(server, code).result["success"]
    assert index.requests == []


def test_a_failure_leaves_the_session_as_it_was(server, tmp_path):
    session = Session(server, "x = 1")
    text = session.fails("x = 2\n%pip install nothing-like-it")
    assert "The run failed: nothing ran: cannot prepare environment" in text and "nothing-like-it" in text, text
    assert session.shown("print(x)") == "1"
    assert session.shown(f"%pip install gadget==1.0\n{VERSION}", timeout=TIMEOUT) == "1.0"


def test_a_failure_leaves_what_is_installed_as_it_was(server, index):
    """The first brings a Python, the second has in its list of files what makes a venv one."""
    wheels.wheel(index.folder, "replacing", modules={
        "replacing.py": "", "replacing-1.0.data/scripts/python": "#!/bin/sh\necho replaced\n"})
    for version in ("1.0", "2.0"):
        wheels.wheel(index.folder, "removing", version, lists=["../../../pyvenv.cfg"])
    session = Session(server, "%pip install gadget==1.0 removing==1.0")
    session.fails("%pip install replacing")
    assert "No module named 'replacing'" in session.fails("import replacing")
    assert session.shown(f"%pip install removing==2.0\nimport removing; print(removing.VERSION); {VERSION}",
                         timeout=TIMEOUT) == "2.0\n1.0"
    assert session.shown(f"%pip install widget\nimport widget; {CHILD}", timeout=TIMEOUT) == "1.0"


def test_a_package_is_upgraded(server, index):
    (index.folder / "gadget-2.0-py3-none-any.whl").rename(index.folder.parent / "later.whl")
    session = Session(server, f"%pip install gadget\n{VERSION}")
    assert session.result["stdout"] == "1.0\n", session.text
    (index.folder.parent / "later.whl").rename(index.folder / "gadget-2.0-py3-none-any.whl")
    assert session.shown(f"%pip install -U 'gadget>=1'\n{CHILD}; {VERSION}", timeout=TIMEOUT).split() == ["2.0", "1.0"]
    assert "Installed for this session: gadget 2.0." in session.text


def test_names_of_a_cell_count_each_time(server, index):
    answer = call(server, "!pip install a\n" * 5000, Session(server).name)
    assert "nothing ran: line 201: a cell installs at most 200 packages" in text_of(answer)
    assert index.requests == []


def test_a_line_with_a_null_character_installs_nothing(server, index):
    answer = call(server, "%pip install gadget\0 widget", Session(server).name)
    assert answer["isError"] and "null" in text_of(answer)
    assert index.requests == []


@pytest.mark.parametrize("names, said", [(201, "at most 200 packages"), (40000, "at most 200 packages"), (150, "too long")])
def test_a_cell_installs_a_number_of_packages_that_a_person_can_read(server, index, names, said):
    session = Session(server, "x = 1")
    word = "a" * 200 if names < 200 else "a"
    answer = call(server, "%pip install " + " ".join(f"{word}{number}" for number in range(names)), session.name)
    assert answer["isError"] and "nothing ran: line 1" in text_of(answer) and said in text_of(answer)
    assert session.shown("print(x)") == "1"
    assert index.requests == []


def test_programs_of_the_session_stay_what_they_were(server):
    which = "import shutil; print([shutil.which(name) for name in ('python3', 'pip', 'pip3')])"
    session = Session(server, which)
    before = session.result["stdout"].strip()
    assert session.shown(f"%pip install gadget\n{which}", timeout=TIMEOUT) == before


def test_a_first_cell_that_fails_to_install_leaves_a_session(server):
    session = Session(server, "%pip install nothing-like-it")
    assert not session.result["success"] and session.result["session"]["alive"]
    assert session.shown("print(1)") == "1"


def test_each_session_has_its_own(server):
    one = Session(server, "%pip install gadget==1.0")
    handle = one.result["working_directory"]
    other = Session(server, "%pip install gadget==2.0", working_directory=handle)
    assert (one.shown(VERSION), other.shown(VERSION)) == ("1.0", "2.0")
    assert "No module named 'gadget'" in Session(server, "import gadget", working_directory=handle).text
    alone = server.call_tool("run_python", {"code": "import gadget", "working_directory": handle})
    assert "No module named 'gadget'" in text_of(alone)


def test_the_end_of_a_session_leaves_nothing(server, tmp_path):
    one, other = Session(server, "%pip install gadget"), Session(server, "%pip install widget")
    assert len(kept(tmp_path)) == 2
    one.manage("close")
    assert leftovers.until(lambda: len(kept(tmp_path)) == 1)
    assert other.shown("import widget; widget.main()") == "widget runs"
    server.stop()
    assert leftovers.until(lambda: rest(tmp_path) == []), rest(tmp_path)


def test_a_restart_keeps_it(server, tmp_path):
    session = Session(server, "%pip install gadget==1.0")
    for _ in range(3):
        session.manage("restart")
        assert session.shown(f"%pip install widget\nimport widget; {VERSION}", timeout=TIMEOUT) == "1.0"
    assert leftovers.until(lambda: len(kept(tmp_path)) == 1), kept(tmp_path)
    session.manage("close")
    assert leftovers.until(lambda: kept(tmp_path) == [])


def test_a_copy_has_it_and_installs_for_itself(server, tmp_path):
    origin = Session(server, "%pip install gadget==1.0")
    answer = call(server, VERSION, fork=origin.name)
    if "gives a copy no cgroup" in text_of(answer):
        pytest.skip("this machine gives no cgroup of its own to a copy")
    copy = Session(server, "%pip install widget\nimport widget; widget.main()", fork=origin.name)
    assert copy.result["stdout"] == "widget runs\n", copy.text
    assert "No module named 'widget'" in origin.fails("import widget")
    assert (origin.shown(VERSION), copy.shown(VERSION)) == ("1.0", "1.0")
    origin.manage("close")
    assert leftovers.until(lambda: kept(tmp_path) == [])


def test_a_copy_that_could_not_install_keeps_what_it_had(server):
    origin = Session(server, "%pip install gadget==1.0")
    answer = call(server, "pass", fork=origin.name)
    if "gives a copy no cgroup" in text_of(answer):
        pytest.skip("this machine gives no cgroup of its own to a copy")
    copy = Session(server, VERSION, fork=origin.name)
    copy.fails("%pip install nothing-like-it")
    copy.manage("restart")
    assert copy.shown(VERSION) == "1.0"


def test_there_is_no_copy_while_packages_are_installed(server, index):
    origin = Session(server)
    index.gate.clear()
    request = server.start_tool("run_python", {"code": "%pip install gadget", "session": origin.name, "timeout": TIMEOUT})
    assert leftovers.until(lambda: index.requests)
    answer = call(server, "1", fork=origin.name)
    index.gate.set()
    assert answer["isError"] and "until the packages of its cell are installed" in text_of(answer), text_of(answer)
    assert server.wait(request, TIMEOUT)["result"]["structuredContent"]["success"]


def test_cells_cannot_change_what_is_installed(index, tmp_path):
    with serve(environments={"held": {"type": "system", "isolation": "sandbox"}}, default_environment="held") as server:
        server.initialize()
        session = Session(server, "%pip install gadget==1.0\nimport gadget, os, pathlib\nplace = pathlib.Path(gadget.__file__)")
        assert session.result["success"], session.text
        for attempt in ("place.write_text('VERSION = 9')", "place.unlink()", "place.rename('/tmp/x')",
                        "os.symlink('/etc', place.parents[3] / 'link')", "(place.parents[4] / 'x').mkdir()",
                        "os.chmod(place, 0o666)", "os.rmdir(place.parents[3])"):
            text = session.fails(f"{attempt}\nprint('changed')")
            assert "changed" not in session.result["stdout"] and ("OSError" in text or "Error: [Errno" in text), text
        assert session.shown("sorted(os.listdir(place.parents[4]))") == f"['{place_of(tmp_path)}']"


def place_of(tmp_path):
    [path] = kept(tmp_path)
    return os.path.basename(path)


def test_packages_run_nothing_when_they_are_installed(index, tmp_path):
    """Nor does one decide what a later installation shows, by the record of the first."""
    data = "hostile-1.0.data/data"
    wheels.wheel(index.folder, "hostile", modules={
        "hostile.py": "", "hostile.pth": "import os; open('ran', 'w')\n", "sitecustomize.py": "open('ran', 'w')\n",
        f"{data}/pyexecd.json": json.dumps({"mark": "0", "directories": ["/"]})})
    with serve(environments={"held": {"type": "system", "isolation": "sandbox"}}, default_environment="held") as server:
        server.initialize()
        session = Session(server, "%pip install hostile\nimport os; print(os.listdir())")
        assert session.result["success"] and "ran" not in session.result["stdout"], session.text
        assert session.shown(f"%pip install gadget==1.0\n{VERSION}; print('ran' in os.listdir())", timeout=TIMEOUT) == "1.0\nFalse"


def test_a_package_that_brings_a_python_stays_without_effect(server, index):
    wheels.wheel(index.folder, "hostile", modules={
        "hostile.py": "", "hostile-1.0.data/scripts/python": "#!/bin/sh\necho replaced\n"})
    session = Session(server, "x = 1")
    session.fails("%pip install hostile")
    other = Session(server, f"%pip install gadget==1.0\n{VERSION}")
    assert (session.shown("print(x)"), other.result["stdout"]) == ("1", "1.0\n")


def test_a_server_that_is_killed_leaves_nothing_to_the_next(index, tmp_path):
    server = serve()
    server.initialize()
    Session(server, "%pip install gadget")
    index.gate.clear()
    server.start_tool("run_python", {"code": "%pip install widget", "session": "new"})
    asked = len(index.requests)
    assert leftovers.until(lambda: len(index.requests) > asked)
    server.kill()
    index.gate.set()
    assert rest(tmp_path)
    with serve() as server:
        server.initialize()
        assert leftovers.until(lambda: rest(tmp_path) == []), rest(tmp_path)


def test_a_session_that_is_closed_meanwhile_leaves_nothing(server, index, tmp_path):
    session = Session(server)
    index.gate.clear()
    server.start_tool("run_python", {"code": "%pip install gadget", "session": session.name})
    assert leftovers.until(lambda: index.requests)
    session.manage("close")
    index.gate.set()
    assert leftovers.until(lambda: kept(tmp_path) == [] and rest(tmp_path) == []), rest(tmp_path)


LEAVES = """
import os, threading, time
def leave():
    while not os.path.exists("go"):
        time.sleep(0.05)
    os._exit(3)
threading.Thread(target=leave).start()
"""


def test_a_session_that_ends_meanwhile_says_so(server, index, tmp_path):
    session = Session(server, LEAVES)
    index.gate.clear()
    request = server.start_tool("run_python", {"code": "%pip install gadget\nimport time; time.sleep(50)", "session": session.name})
    assert leftovers.until(lambda: index.requests)
    [place] = (tmp_path / "state" / "pyexecd" / "work").glob(f"*/{session.result['working_directory']}")
    (place / "go").touch()
    index.gate.set()
    session.take(server.wait(request, TIMEOUT)["result"])
    assert not session.result["success"] and "session has ended" in session.text, session.text
    assert session.is_gone() and leftovers.until(lambda: kept(tmp_path) == [])


def test_where_packages_are_built_or_have_hashes_no_cell_installs(index, tmp_path):
    wheels.sdist(index.folder, "source", build=f"open({str(tmp_path / 'built')!r}, 'w')")
    hashes = tmp_path / "hashes.txt"
    hashes.write_text(f"gadget==1.0 --hash={wheels.sha256(index.folder / 'gadget-1.0-py3-none-any.whl')}\n")
    with serve(environments={"built": {"type": "venv", "isolation": "none", "pip_packages": ["gadget"], "allow_source_builds": True},
                             "hashed": {"type": "venv", "requirements_file": str(hashes)}},
               default_environment="built") as server:
        server.initialize()
        for name, why in (("built", "allow_source_builds"), ("hashed", "hashes")):
            session = Session(server, "x = 1", environment=name)
            text = session.fails("%pip install source")
            assert f'calls can add no packages to environment "{name}": its own' in text and why in text, text
            assert session.shown("print(x)") == "1"
        assert not (tmp_path / "built").exists()


def test_a_call_that_is_cancelled_ends_the_installation(server, index, tmp_path):
    session = Session(server, "x = 1")
    index.gate.clear()
    call_id = server.start_tool("run_python", {"code": "%pip install gadget", "session": session.name})
    assert leftovers.until(lambda: index.requests)
    server.cancel(call_id)
    index.gate.set()
    assert session.shown("print(x)") == "1"
    assert "No module named 'gadget'" in session.fails("import gadget")


def test_progress_is_told(server):
    session = Session(server)
    request = server.start_tool("run_python", {"code": "%pip install gadget", "session": session.name, "timeout": TIMEOUT}, "p")
    server.wait(request, TIMEOUT)
    assert any("installing gadget" in each.get("message", "") for each in server.progress("p"))


@pytest.mark.parametrize("uv", [False, True], ids=["pip", "uv"])
def test_an_environment_with_packages_keeps_them(index, tmp_path, monkeypatch, uv):
    if uv:
        if not UV.exists():
            pytest.skip("no uv here")
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "uv").symlink_to(UV.resolve())
        monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    with serve(environments={"own": {"type": "venv", "pip_packages": ["gadget<2"]}}, default_environment="own") as server:
        server.initialize()
        session = Session(server, f"%pip install widget\nimport widget; widget.main(); {VERSION}")
        assert session.result["stdout"] == "widget runs\n1.0\n", session.text


@pytest.mark.parametrize("extends", [False, True])
def test_what_the_python_of_another_venv_has_is_there_and_what_it_hides_is_not(index, tmp_path, extends):
    """Its venv has an own gadget, and does not show the packages of the Python behind it, which has a `distro`."""
    folder = tmp_path / "venv"
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", folder], check=True)
    [packages] = folder.glob("lib/python3*/site-packages")
    (packages / "gadget.py").write_text("VERSION = 'own'\n")
    (packages / "gadget-9.dist-info").mkdir()
    (packages / "gadget-9.dist-info" / "METADATA").write_text(wheels.metadata("gadget", "9"))
    wheels.wheel(index.folder, "distro", "0.1")
    definition = {"type": "venv", "extends": "own", "pip_packages": ["widget"]}
    with serve(environments={"own": {"type": "system", "executable": str(folder / "bin/python")}}, default_environment="own") as server:
        server.initialize()
        session = Session(server, f"%pip install widget distro\nimport distro, widget; print(distro.VERSION); {VERSION}",
                          **({"environment_definition": definition} if extends else {}))
        assert session.result["stdout"] == "0.1\nown\n", session.text


def test_where_there_can_be_no_session_nothing_is_installed(index):
    limited = [sys.executable, str(ROOT / "tests" / "integration" / "limited.py"), "clone3=ENOSYS", "CLONE_NEWUSER=EPERM", "--"]
    with client.Server(config={"sessions": {}}, command=[*limited, os.environ["PYEXECD"]]) as server:
        server.initialize()
        answer = call(server, "%pip install gadget", "new", timeout=TIMEOUT)
        assert "they need a PID namespace" in text_of(answer), text_of(answer)
        assert index.requests == []


def test_where_calls_define_no_environment_nothing_is_installed(index):
    with serve(callers={"define_environments": False}) as server:
        server.initialize()
        assert "Line 1 is a command of notebooks" in Session(server, "%pip install gadget").text
        assert index.requests == []
