"""Environments of type venv: found, created, filled with packages, found again; and every way in
which that can go wrong, after which nothing may be left."""

import contextlib
import glob
import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import time

import pytest

import client
import leftovers
import plain_user
import wheels

PYTHON = "/usr/bin/python3"
HOME = os.environ.get("HOME", "/nonexistent")  # of whoever runs the tests
ROOT = pathlib.Path(__file__).resolve().parents[2]
UV = ROOT / ".deps" / "tools" / "bin" / "uv"
NAMESPACE = ["unshare", "--map-root-user", "--mount"]
TIMEOUT = 300  # seconds: pip starts slowly on a busy machine

WHERE = "import os, sys; print(sys.prefix); print(sys.version.split()[0]); " \
        "print(os.environ.get('VIRTUAL_ENV')); print(os.environ['PATH'].split(':')[0])"


def can(*command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def has_ensurepip():
    return can(PYTHON, "-c", "import ensurepip; ensurepip.version()")


needs_pip = pytest.mark.skipif(not has_ensurepip(), reason="no python3-venv on this machine")
needs_namespace = pytest.mark.skipif(not can(*NAMESPACE, "true"), reason="no user namespaces")


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """A user without settings, and no package index but the tests' own."""
    plain_user.become(monkeypatch, tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")


class Place:
    """Where a test keeps what it makes, and where the server keeps venvs."""

    def __init__(self, folder):
        self.folder = folder
        self.state = folder / "state" / "pyexecd"
        self.packages = folder / "packages"
        self.packages.mkdir()

    def server(self, definition=None, command=None, **definitions):
        if definition is not None:
            definitions["venv"] = definition
        environments = {name: {"type": "venv", **each} for name, each in definitions.items()}
        return client.Server(command=command, config={
            "environments": environments, "default_environment": next(iter(environments))})

    def wheel(self, name, version="1.0", **more):
        return wheels.wheel(self.packages, name, version, **more)

    def links(self, *packages, **more):
        """A definition with PACKAGES from the folder of wheels."""
        return {"pip_packages": list(packages), "pip_find_links": str(self.packages), **more}

    def venvs(self):
        """The venvs in the state directory."""
        return sorted(path for path in (self.state / "venvs").glob("*"))

    def half_made(self):
        """What is there while a venv is being made, and may not be afterwards."""
        return sorted(os.path.join(folder, name) for folder, names, _ in os.walk(self.folder)
                      for name in names if name.startswith((".new-", ".old-")) or ".pyexecd-" in name)

    def processes(self):
        """Processes that an installer has started."""
        mark = str(self.folder).encode()
        return [pid for pid in leftovers.processes()
                if (mark in leftovers.read(f"/proc/{pid}/cmdline")
                    or b"TMPDIR=" + mark in leftovers.read(f"/proc/{pid}/environ"))
                and not leftovers.runs_no_script(pid)]

    def assert_nothing_is_left(self):
        assert leftovers.until(lambda: not self.processes()), "processes are left"
        assert leftovers.until(lambda: not self.half_made()), self.half_made()


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def call(server, code, **arguments):
    result = server.call_tool("run_python", {"code": code, **arguments}, timeout=TIMEOUT)
    return result["structuredContent"]


def output(server, code, **arguments):
    result = call(server, code, **arguments)
    assert result["success"], result
    return result["stdout"]


def failure(server, **arguments):
    """The error of a call that cannot be prepared."""
    result = call(server, "print(1)", **arguments)
    assert not result["success"] and result["returncode"] is None, result
    return result["error"]


@contextlib.contextmanager
def initialized(server):
    with server:
        server.initialize()
        yield server


def run_once(place, definition, code, command=None):
    """What CODE prints in a server of its own."""
    with initialized(place.server(definition, command=command)) as server:
        return output(server, code)


def fail_once(place, definition, command=None):
    with initialized(place.server(definition, command=command)) as server:
        return failure(server)


def snapshot(folder):
    """Every file of FOLDER with what could show that it was touched."""
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size)
            for path in [folder, *folder.rglob("*")]}


def version_of(python):
    asked = subprocess.run([python, "-c", "import sys; print(sys.version.split()[0])"],
                           capture_output=True, text=True, check=False)
    return asked.stdout.strip()


def pythons():
    """(version, path) of every Python that is here."""
    found = {}
    for path in [PYTHON, *glob.glob("/usr/bin/python3.[0-9]*[0-9]"),
                 *glob.glob("/usr/local/bin/python3.[0-9]*[0-9]"),
                 *glob.glob(f"{HOME}/.pyenv/versions/3.*/bin/python3")]:
        version = version_of(path) if os.access(path, os.X_OK) else ""
        if version and version not in found:
            found[version] = path
    return sorted(found.items(), key=lambda each: [int(number) for number in re.findall(r"\d+", each[0])])


def some_of(found):
    """FOUND, where what lies between the oldest, Debian's and the newest is for a release."""
    chosen = (found[0], (version_of(PYTHON), PYTHON), found[-1])
    return [pytest.param(*each, marks=[pytest.mark.release] * (each not in chosen)) for each in found]


def passes_for(path, version):
    """A program at PATH that says it is Python VERSION."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nprintf 'python\\0%s\\000{version}\\0/prefix\\0' \"$0\"\n")
    path.chmod(0o755)
    return path


# Created in the state directory


def test_a_venv_is_created_and_scripts_run_in_it(place):
    with initialized(place.server({})) as server:
        result = call(server, WHERE)
    (venv,) = place.venvs()
    assert result["stdout"].splitlines() == [str(venv), version_of(PYTHON), str(venv),
                                             str(venv / "bin")]
    assert result["python_version"] == version_of(PYTHON)
    assert result["environment"] == "venv"
    place.assert_nothing_is_left()


@pytest.mark.serial
def test_a_venv_is_found_again_after_a_restart(place):
    run_once(place, {}, "print(1)")
    before = snapshot(place.venvs()[0])
    times = [1]
    while min(times) > 0.05 and len(times) < 10:  # the best of several, as the machine may be busy
        with initialized(place.server({})) as server:
            times.append(call(server, "print(1)")["timings"]["prepare"])
    assert min(times) <= 0.05
    assert before.keys() == snapshot(place.venvs()[0]).keys()


def test_another_definition_is_another_venv_and_the_same_is_shared(place):
    with initialized(place.server(one={}, two={}, other={"system_site_packages": True})) as server:
        prefixes = [output(server, "import sys; print(sys.prefix)", environment=name)
                    for name in ("one", "two", "other")]
    assert prefixes[0] == prefixes[1] != prefixes[2]
    assert len(place.venvs()) == 2


@pytest.mark.serial
@needs_pip
def test_creating_one_takes_a_fiftieth_of_python_m_venv(place):
    run_once(place, {"python_path": PYTHON}, "print(1)")  # the first one of this Python is asked
    begun = time.monotonic()
    subprocess.run([PYTHON, "-m", "venv", str(place.folder / "theirs")], check=True)
    theirs = time.monotonic() - begun
    times = []
    with initialized(place.server(**{f"v{number}": {
            "python_path": PYTHON, "venv_path": str(place.folder / f"ours{number}")}
            for number in range(5)})) as server:
        for number in range(5):
            result = call(server, "import pip, sys; print(sys.prefix)", environment=f"v{number}")
            assert result["stdout"].strip() == str(place.folder / f"ours{number}")
            times.append(result["timings"]["prepare"])
    assert min(times) <= theirs / 50, (times, theirs)


@pytest.mark.first  # as its file does
@needs_pip
def test_pip_works_in_it(place):
    place.wheel("widget", modules={"widget.py": "def main(): print('widget', __file__)\n"},
                programs={"widget": "widget:main"})
    place.wheel("gadget", requires=["widget"])
    venv = place.folder / "venv"
    run_once(place, {"venv_path": str(venv)}, "print(1)")
    for pip in ([venv / "bin/python", "-m", "pip"], [venv / "bin/pip"], [venv / "bin/pip3"]):
        shown = subprocess.run([*pip, "--version"], capture_output=True, text=True, check=True)
        assert str(venv) in shown.stdout
    subprocess.run([venv / "bin/pip", "install", "--no-index", "--find-links", place.packages,
                    "gadget"], check=True, capture_output=True)
    assert f"{venv}/bin/python" in "".join((venv / "bin/widget").read_text().splitlines()[:2])
    printed = subprocess.run([venv / "bin/widget"], capture_output=True, text=True, check=True)
    assert str(venv) in printed.stdout
    listed = subprocess.run([venv / "bin/pip", "list"], capture_output=True, text=True, check=True)
    assert {"gadget", "pip", "widget"} <= set(listed.stdout.split())
    subprocess.run([venv / "bin/pip", "uninstall", "-y", "gadget", "pip"], check=True,
                   capture_output=True)
    assert not list(venv.glob("bin/pip*")) and not list(venv.rglob("pip*"))


def test_only_its_own_packages_are_seen_unless_said(place):
    where = "import sys; print(any('dist-packages' in path for path in sys.path))"
    assert run_once(place, {"python_path": PYTHON}, where) == "False\n"
    outside = subprocess.run([PYTHON, "-c", where], capture_output=True, text=True, check=True)
    assert run_once(place, {"python_path": PYTHON, "system_site_packages": True},
                    where) == outside.stdout


def test_a_venv_that_was_damaged_is_made_anew(place):
    run_once(place, {}, "print(1)")
    (venv,) = place.venvs()
    for damage in (lambda: (venv / "bin/python").unlink(),
                   lambda: (venv / "pyexecd.json").unlink(),
                   lambda: (venv / "pyexecd.json").write_text("{"),
                   lambda: shutil.rmtree(venv)):
        damage()
        assert run_once(place, {}, WHERE).splitlines()[0] == str(venv)
    place.assert_nothing_is_left()


def test_a_venv_that_goes_while_the_server_runs_is_made_anew(place):
    with initialized(place.server({})) as server:
        output(server, "print(1)")
        shutil.rmtree(place.venvs()[0])
        assert output(server, WHERE).splitlines()[0] == str(place.venvs()[0])


# At a path


def test_a_venv_at_the_path_is_used_as_it_is_and_wins(place):
    venv = place.folder / "mine"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", venv], check=True)
    before = snapshot(venv)
    with initialized(place.server({"venv_path": str(venv), "python_version": "3.99",
                                   "python_path": "/nowhere/python"})) as server:
        result = call(server, WHERE)
    assert result["stdout"].splitlines()[0] == str(venv)
    assert result["python_version"] == version_of(PYTHON)
    assert snapshot(venv) == before
    assert not (place.state / "venvs").exists()


@needs_pip
def test_what_a_script_installs_is_there_for_all(place):
    """As docs/environments.md warns."""
    place.wheel("gadget")
    install = ["install", "--no-index", "--find-links", str(place.packages), "gadget"]
    free = {"isolation": "none"}
    with initialized(place.server(one=free, two=free)) as server:
        output(server, "import subprocess, sys\n"
                       f"subprocess.run([sys.executable, '-m', 'pip', *{install}], check=True)",
               environment="one")
        assert output(server, "import gadget; print(gadget.VERSION)", environment="two") == "1.0\n"


@needs_pip
def test_packages_come_into_a_venv_that_was_made_without_pip(place):
    place.wheel("gadget")
    venv = place.folder / "mine"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", venv], check=True)
    definition = place.links("gadget", venv_path=str(venv))
    assert run_once(place, definition, "import gadget; print(gadget.__file__)").startswith(f"{venv}/")
    assert not list(venv.rglob("pip*")), "it still has none"
    place.assert_nothing_is_left()


def test_without_one_it_is_created_there_and_found_again(place):
    venv = place.folder / "deep" / "er" / "venv"
    for _ in range(2):
        printed = run_once(place, {"venv_path": f"{venv}/"}, WHERE)
        assert printed.splitlines() == [str(venv), version_of(PYTHON), str(venv), f"{venv}/bin"]
    assert place.venvs() == []
    place.assert_nothing_is_left()


def test_an_empty_folder_is_taken(place):
    venv = place.folder / "venv"
    venv.mkdir()
    assert run_once(place, {"venv_path": str(venv)}, WHERE).splitlines()[0] == str(venv)


def test_a_folder_with_something_else_in_it_is_refused(place):
    folder = place.folder / "precious"
    folder.mkdir()
    (folder / "thesis.txt").write_text("all of it")
    error = fail_once(place, {"venv_path": str(folder)})
    assert f"{folder} is not empty and holds no virtual environment" in error
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]
    (place.folder / "file").write_text("")
    assert "Not a directory" in fail_once(place, {"venv_path": str(place.folder / "file")})
    place.assert_nothing_is_left()


def test_a_venv_whose_python_is_gone_says_so(place):
    venv = place.folder / "mine"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to("/nowhere/python3")
    error = fail_once(place, {"venv_path": str(venv)})
    assert f"{venv}/bin/python cannot be executed" in error


def test_what_is_called_python_there_has_to_be_one(place):
    venv = place.folder / "mine"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").write_text("#!/bin/sh\necho nonsense\n")
    (venv / "bin" / "python").chmod(0o755)
    error = fail_once(place, {"venv_path": str(venv)})
    assert f"{venv}/bin/python is not a working Python 3" in error


@pytest.mark.plain
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_says_so(place):
    folder = place.folder / "readonly"
    folder.mkdir(mode=0o555)
    error = fail_once(place, {"venv_path": str(folder / "venv")})
    assert "Permission denied" in error


# Which Python


@pytest.mark.long
@pytest.mark.parametrize("version, path", some_of(pythons()), ids=lambda value: str(value))
def test_every_python_here_makes_one(place, monkeypatch, version, path):
    monkeypatch.setenv("PYENV_ROOT", f"{HOME}/.pyenv")
    venv = place.folder / "venv"
    with initialized(place.server(
            by_path={"python_path": path}, by_version={"python_version": version},
            there={"venv_path": str(venv), "python_version": version.rpartition(".")[0]})) as server:
        for name in ("by_path", "by_version", "there"):
            prefix, found, *_ = output(server, WHERE, environment=name).splitlines()
            assert found.startswith(version if name != "there" else version.rpartition(".")[0])
    assert prefix == str(venv)
    if can(path, "-c", "import ensurepip; ensurepip.version()"):
        subprocess.run([venv / "bin/pip", "--version"], check=True, capture_output=True)


def test_a_version_is_found_where_tools_keep_it(place, monkeypatch):
    real = place.folder / "home" / ".pyenv" / "versions" / "x" / "bin" / "python3"
    real.parent.mkdir(parents=True)
    real.symlink_to(PYTHON)
    monkeypatch.setenv("PATH", "/bin/nowhere")
    version = version_of(PYTHON).rpartition(".")[0]
    assert run_once(place, {"python_version": version}, WHERE).splitlines()[1].startswith(version)


def test_a_version_that_is_not_there_lists_those_that_are(place):
    other = passes_for(place.folder / "home" / ".pyenv/versions/3.77.1/bin/python3", "3.77.1")
    error = fail_once(place, {"python_version": "3.99"})
    assert error.startswith('cannot prepare environment "venv": finding python 3.99: '
                            'there is no Python 3.99 on this machine; found: ')
    assert f"{version_of(PYTHON)} ({PYTHON})" in error
    assert f"3.77.1 ({other})" in error
    place.assert_nothing_is_left()


@pytest.mark.parametrize("text, reason", [
    (None, "there is no Python interpreter at"),
    ("#!/bin/sh\necho I am a teapot >&2; exit 1\n", "is not a working Python 3: I am a teapot"),
])
def test_a_path_that_is_no_python_says_so(place, text, reason):
    path = place.folder / "python"
    if text:
        path.write_text(text)
        path.chmod(0o755)
    for more in ({}, {"venv_path": str(place.folder / "venv")}):
        error = fail_once(place, {"python_path": str(path), "python_version": "3", **more})
        assert "finding python" in error and str(path) in error and reason in error
    assert not (place.folder / "venv").exists()
    place.assert_nothing_is_left()


def test_a_python_that_is_replaced_by_the_same_version_keeps_its_venv(place):
    """As an update of the distribution does."""
    copies = place.folder / "opt" / "bin"
    copies.mkdir(parents=True)
    python = copies / "python3"
    shutil.copy(os.path.realpath(PYTHON), python)
    if not can(python, "-c", "import encodings"):
        pytest.skip("a copy of the interpreter does not find its library")
    run_once(place, {"python_path": str(python)}, "print(1)")
    (venv,) = place.venvs()
    (venv / "kept").write_text("")
    shutil.copy(os.path.realpath(PYTHON), copies / "next")
    os.rename(copies / "next", python)
    assert run_once(place, {"python_path": str(python)}, WHERE).splitlines()[0] == str(venv)
    assert (venv / "kept").exists()
    passes_for(python, "3.77.1")
    with initialized(place.server({"python_path": str(python)})) as server:
        assert "gave no valid description of itself" in failure(server) or not (venv / "kept").exists()


# Packages


@needs_pip
def test_packages_are_installed_with_what_they_need(place):
    place.wheel("gadget", requires=["widget>=2"], programs={"gadget": "gadget:main"},
                modules={"gadget.py": "def main(): print('ran')\n"})
    place.wheel("widget", "1.0")
    place.wheel("widget", "2.5")
    definition = place.links("gadget", "gadget[extra] >=1,<2")
    with initialized(place.server(definition)) as server:
        assert output(server, "import widget; print(widget.VERSION)") == "2.5\n"
        assert output(server, "import subprocess; subprocess.run(['gadget'], check=True)") == "ran\n"
    (venv,) = place.venvs()
    assert f"{venv}/bin/python" in "".join((venv / "bin/gadget").read_text().splitlines()[:2])
    assert not [path for path in venv.rglob("*.py")
                if not path.parts[-2].startswith("pip") and not list(
                    (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"))]
    with initialized(place.server(definition)) as server:
        result = server.call_tool("run_python", {"code": "import widget; print(widget.VERSION)"},
                                  progress_token="t", timeout=TIMEOUT)["structuredContent"]
        assert result["stdout"] == "2.5\n"
        assert not [each for each in server.progress("t") if "installing" in each.get("message", "")]
    place.assert_nothing_is_left()


@needs_pip
def test_progress_names_the_steps(place):
    place.wheel("gadget")
    with initialized(place.server(place.links("gadget"))) as server:
        server.call_tool("run_python", {"code": "print(1)"}, progress_token="t", timeout=TIMEOUT)
        steps = [each.get("message", "") for each in server.progress("t")]
    for step in ("finding python", "unpacking pip", "creating venv", "installing gadget"):
        assert any(step in each for each in steps), steps


@needs_pip
def test_packages_come_from_the_index_that_is_named(place, monkeypatch):
    place.wheel("gadget")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/nowhere")
    with wheels.Index(place.packages) as index:
        definition = {"pip_packages": ["gadget"], "pip_index_url": index.url}
        assert run_once(place, definition, "import gadget; print(gadget.VERSION)") == "1.0\n"
    assert "/simple/gadget/" in index.requests


@needs_pip
def test_without_one_the_servers_own_settings_hold(place, monkeypatch):
    place.wheel("gadget")
    with wheels.Index(place.packages) as index:
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        monkeypatch.setenv("PIP_TARGET", str(place.folder / "elsewhere"))
        assert run_once(place, {"pip_packages": ["gadget"]},
                        "import gadget; print(gadget.VERSION)") == "1.0\n"
    assert not (place.folder / "elsewhere").exists()


@needs_pip
def test_a_folder_that_is_named_takes_the_place_of_the_servers_own(place, monkeypatch):
    place.wheel("gadget")
    elsewhere = place.folder / "elsewhere"
    elsewhere.mkdir()
    wheels.wheel(elsewhere, "gadget", "9.0")
    monkeypatch.setenv("PIP_FIND_LINKS", str(elsewhere))
    printed = "import gadget; print(gadget.VERSION)"
    assert run_once(place, place.links("gadget"), printed) == "1.0\n"
    assert run_once(place, {"pip_packages": ["gadget"]}, printed) == "9.0\n"


@needs_pip
def test_a_requirements_file_is_installed_and_another_content_is_another_venv(place):
    place.wheel("gadget", "1.0")
    place.wheel("gadget", "2.0")
    file = place.folder / "requirements.txt"
    file.write_text("# what we need\ngadget==1.0 ; python_version >= '3'\n")
    definition = {"requirements_file": str(file), "pip_find_links": str(place.packages)}
    with initialized(place.server(definition)) as server:
        assert output(server, "import gadget; print(gadget.VERSION)") == "1.0\n"
        file.write_text("gadget==2.0\n")
        assert output(server, "import gadget; print(gadget.VERSION)") == "2.0\n"
    assert len(place.venvs()) == 2


@needs_pip
def test_hashes_are_checked(place):
    path = place.wheel("gadget")
    file = place.folder / "requirements.txt"
    definition = {"requirements_file": str(file), "pip_find_links": str(place.packages)}
    file.write_text(f"gadget==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
    assert "hash" in fail_once(place, definition).lower()
    file.write_text(f"gadget==1.0 \\\n    --hash={wheels.sha256(path)}\n")
    assert run_once(place, definition, "import gadget; print(gadget.VERSION)") == "1.0\n"
    place.assert_nothing_is_left()


@pytest.mark.parametrize("text, reason", [
    ("gadget\n-e .\n", "line 2: options are not taken"),
    ("-r other.txt\n", "line 1: options are not taken"),
    ("https://example.com/a.whl\n", "line 1: URLs are not taken"),
    ("gadget @ file:///etc/passwd\n", "line 1: URLs behind"),
    ("\n\n../secret\n", "line 3: paths are not taken"),
    ("gadget --hash=sha256:" + "0" * 64 + "\nwidget\n", "widget has no --hash"),
    (None, "No such file or directory"),
])
def test_a_requirements_file_has_packages_only(place, text, reason):
    file = place.folder / "requirements.txt"
    if text is not None:
        file.write_text(text)
    error = fail_once(place, {"requirements_file": str(file)})
    assert reason in error
    assert "secret" not in error and "passwd" not in error and "example" not in error
    place.assert_nothing_is_left()
    assert place.venvs() == []


@needs_pip
def test_a_package_that_does_not_exist_says_so_and_is_tried_again(place):
    with initialized(place.server(place.links("gadget"))) as server:
        error = failure(server)
        assert error.startswith('cannot prepare environment "venv": installing gadget: '
                                'pip ended with exit status 1:\n')
        assert "No matching distribution found for gadget" in error
        assert place.venvs() == []
        place.assert_nothing_is_left()
        place.wheel("gadget")
        assert output(server, "import gadget; print(gadget.VERSION)") == "1.0\n"


@needs_pip
def test_packages_are_built_only_when_that_is_allowed(place):
    wheels.sdist(place.packages, "gadget", build=f"open({str(place.folder / 'ran')!r}, 'w')")
    definition = place.links("gadget", isolation="none")  # a build that may write what is looked for
    error = fail_once(place, definition)
    assert "No matching distribution found for gadget" in error
    assert "needs allow_source_builds: true" in error and not error.endswith("..")
    assert not (place.folder / "ran").exists()
    assert run_once(place, {**definition, "allow_source_builds": True},
                    "import gadget; print(gadget.VERSION)") == "1.0\n"
    assert (place.folder / "ran").exists()


class Hanging:
    """A package whose build never ends, but for a file beside it."""

    def __init__(self, place):
        self.place = place
        self.go = place.packages / "go"
        self.mark = f"98127.{secrets.randbelow(10**9)}"
        wheels.sdist(place.packages, "slow", build=(
            f"import os, subprocess; "
            f"os.path.exists({str(self.go)!r}) or subprocess.run(['sleep', '{self.mark}'])"))

    def definition(self, **more):
        return self.place.links("slow", allow_source_builds=True, **more)

    def wait(self):
        assert leftovers.until(self.sleepers, TIMEOUT), "the build has not begun"

    def sleepers(self):
        return [pid for pid in leftovers.processes()
                if self.mark.encode() in leftovers.read(f"/proc/{pid}/cmdline").split(b"\0")]

    def release(self):
        """From now on the build ends."""
        self.go.write_text("")

    def assert_gone(self):
        assert leftovers.until(lambda: not self.sleepers()), "the build still runs"
        self.place.assert_nothing_is_left()


@pytest.mark.once
@needs_pip
def test_a_build_that_hangs_is_ended_with_its_time(place):
    hanging = Hanging(place)
    for seconds in (10, 30, 90):  # in which pip has come to it, on any machine
        with initialized(place.server(hanging.definition(prepare_timeout=seconds))) as server:
            request = server.start_tool("run_python", {"code": "print(1)"})
            has_begun = leftovers.until(hanging.sleepers, seconds)
            error = server.wait(request, TIMEOUT)["result"]["structuredContent"]["error"]
            assert f"not done after {seconds} seconds" in error
            hanging.assert_gone()
            assert place.venvs() == []
        if has_begun:
            break
    assert has_begun and "installing slow" in error


@pytest.mark.once
@needs_pip
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can keep a directory from being removed: by a mount")
def test_what_cannot_be_removed_at_once_is_removed_later(place):
    hanging = Hanging(place)
    with initialized(place.server(hanging.definition())) as server:
        request = server.start_tool("run_python", {"code": "print(1)"})
        hanging.wait()
        [scratch] = place.half_made()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", f"{scratch}/tmp"], check=True)
        try:
            server.cancel(request)
            assert leftovers.until(lambda: not hanging.sleepers())
            assert leftovers.until(lambda: os.listdir(scratch) == ["tmp"])
        finally:
            subprocess.run(["umount", f"{scratch}/tmp"], check=True)
        place.assert_nothing_is_left()


@needs_pip
@pytest.mark.parametrize("start", ["fresh", "known_python", "there_already"])
def test_a_preparation_that_nobody_waits_for_is_ended_and_the_next_one_starts_anew(place, start):
    hanging = Hanging(place)
    definition = hanging.definition()
    if start != "fresh":  # what is known of the Python lies in the preparation's owner, who leaves first
        run_once(place, {}, "print(1)")
    if start == "there_already":
        definition["venv_path"] = str(place.folder / "venv")
        run_once(place, {"venv_path": definition["venv_path"]}, "print(1)")
    had = len(place.venvs())
    with initialized(place.server(definition)) as server:
        first = server.start_tool("run_python", {"code": "print(1)"})
        hanging.wait()
        server.cancel(first)
        hanging.release()
        assert output(server, "import slow; print(slow.VERSION)") == "1.0\n"
        hanging.assert_gone()
    assert len(place.venvs()) == had + (start != "there_already")


@needs_pip
def test_the_end_of_the_server_ends_the_installation(place):
    hanging = Hanging(place)
    server = place.server(hanging.definition())
    with contextlib.suppress(EOFError), initialized(server):
        server.start_tool("run_python", {"code": "print(1)"})
        hanging.wait()
    hanging.assert_gone()
    assert place.venvs() == []


@needs_pip
@pytest.mark.parametrize("where", ["state", "path"])
def test_what_a_killed_server_leaves_is_never_used(place, where):
    hanging = Hanging(place)
    definition = hanging.definition()
    venv = place.folder / "venv"
    if where == "path":
        definition["venv_path"] = str(venv)
    server = place.server(definition)
    server.initialize()
    server.start_tool("run_python", {"code": "print(1)"})
    hanging.wait()
    server.kill()
    assert leftovers.until(lambda: not hanging.sleepers()), "the build outlives the server"
    assert place.half_made() and not venv.exists()
    assert place.venvs() == [path for path in place.venvs() if path.name.startswith(".new-")]
    hanging.release()
    assert run_once(place, definition, "import slow; print(slow.VERSION)") == "1.0\n"
    hanging.assert_gone()


@needs_pip
def test_what_a_killed_server_leaves_is_removed_by_the_next_one(place):
    hanging = Hanging(place)
    server = place.server(hanging.definition())
    server.initialize()
    server.start_tool("run_python", {"code": "print(1)"})
    hanging.wait()
    server.kill()
    assert place.half_made()
    with initialized(place.server({})):  # which never makes that one
        hanging.assert_gone()


@needs_pip
def test_two_servers_make_one_together(place):
    place.wheel("gadget")
    with wheels.Index(place.packages) as index:
        definition = {"pip_packages": ["gadget"], "pip_index_url": index.url}
        index.gate.clear()
        with initialized(place.server(definition)) as one, \
                initialized(place.server(definition)) as two:
            calls = [server.start_tool("run_python", {"code": "import gadget; print(1)"})
                     for server in (one, two)]
            assert leftovers.until(lambda: index.requests, TIMEOUT)
            time.sleep(0.3)
            index.gate.set()
            for server, request in zip((one, two), calls):
                result = server.wait(request, TIMEOUT)["result"]["structuredContent"]
                assert result["stdout"] == "1\n", result
    assert len([path for path in index.requests if path.endswith(".whl")]) == 1
    assert len(place.venvs()) == 1
    place.assert_nothing_is_left()


@needs_pip
def test_packages_of_a_venv_at_a_path_are_added_to_it_once(place):
    place.wheel("gadget")
    place.wheel("widget")
    venv = place.folder / "mine"
    subprocess.run([PYTHON, "-m", "venv", venv], check=True, capture_output=True)
    (venv / "mine.txt").write_text("")
    for package in ("gadget", "widget"):
        definition = place.links(package, venv_path=str(venv))
        assert run_once(place, definition, f"import {package}; print(1)") == "1\n"
    before = snapshot(venv)
    assert run_once(place, definition, "import gadget, widget; print(1)") == "1\n"
    assert snapshot(venv) == before and (venv / "mine.txt").exists()
    place.assert_nothing_is_left()


@needs_pip
def test_a_path_with_blanks_and_quotes_is_like_any_other(place):
    place.wheel("widget", modules={"widget.py": "def main(): print('ran')\n"},
                programs={"widget": "widget:main"})
    venv = place.folder / "it's a place"
    with initialized(place.server(place.links("widget", venv_path=str(venv)))) as server:
        assert output(server, WHERE).splitlines()[0] == str(venv)
        assert output(server, "import subprocess; subprocess.run(['widget'], check=True)") == "ran\n"


USURPERS = [  # what they bring, and what that replaces
    ({"programs": {"python": "usurper:main"}}, "bin/python"),
    ({"modules": {"usurper.py": "", "usurper-1.0.data/data/pyvenv.cfg": "home = /nowhere\n"}}, "pyvenv.cfg"),
    ({"modules": {"usurper.py": "", "usurper-1.0.data/scripts/python3": "#!python\n"}}, "bin/python3"),
]


@needs_pip
@pytest.mark.parametrize("brought, file", [USURPERS[0], *(pytest.param(*each, marks=pytest.mark.release) for each in USURPERS[1:])])
def test_a_package_that_replaces_the_python_of_a_venv_is_refused_by_name(place, brought, file):
    place.wheel("gadget")
    place.wheel("usurper", **brought)
    with initialized(place.server(place.links("gadget", "usurper"))) as server:
        error = failure(server)
        assert f"package usurper-1.0 brings a {file} of its own" in error, error
    assert not place.venvs()
    place.assert_nothing_is_left()


@needs_pip
def test_a_venv_of_others_whose_python_a_package_replaces_is_told(place):
    place.wheel("usurper", programs={"python3": "usurper:main"})
    venv = place.folder / "mine"
    subprocess.run([PYTHON, "-m", "venv", venv], check=True)
    error = fail_once(place, place.links("usurper", venv_path=str(venv)))
    assert "the package usurper-1.0 brings a bin/python3 of its own" in error, error


@needs_pip
def test_a_package_that_replaces_what_the_python_of_a_venv_leads_to_is_told(place):
    """As in a venv that `python3.11 -m venv` has made, where `python` is a link to `python3.11`."""
    named = os.path.basename(os.path.realpath(PYTHON))
    place.wheel("usurper", programs={named: "usurper:main"})
    venv = place.folder / "mine"
    subprocess.run([PYTHON, "-m", "venv", venv], check=True)
    for name, target in ((named, PYTHON), ("python3", named), ("python", named)):
        (venv / "bin" / name).unlink(missing_ok=True)
        (venv / "bin" / name).symlink_to(target)
    error = fail_once(place, place.links("usurper", venv_path=str(venv)))
    assert "brings a bin/python of its own" in error, error


# Other installers


@pytest.mark.skipif(not UV.exists(), reason="no uv: ./dev deps installs it")
def test_uv_is_used_when_it_is_there(place, monkeypatch):
    monkeypatch.setenv("PATH", f"{UV.parent}:/usr/bin:/bin")
    place.wheel("gadget", programs={"gadget": "gadget:main"})
    wheels.sdist(place.packages, "source")
    definition = place.links("gadget", python_path=PYTHON)
    assert run_once(place, definition, "import gadget; print(gadget.VERSION)") == "1.0\n"
    (venv,) = place.venvs()
    assert f"{venv}/bin/python" in "".join((venv / "bin/gadget").read_text().splitlines()[:2])
    assert list(venv.rglob("gadget.*.pyc"))
    assert (next(venv.rglob("gadget-1.0.dist-info")) / "INSTALLER").read_text().strip() == "uv"
    for package in ("nothing", "source"):
        error = fail_once(place, place.links(package, python_path=PYTHON))
        assert f"installing {package}: uv ended with exit status 1:\n" in error
    place.assert_nothing_is_left()
    for brought, file in USURPERS:
        place.wheel("usurper", **brought)
        error = fail_once(place, place.links("gadget", "usurper", python_path=PYTHON))
        # Of console scripts uv itself knows better.
        assert f"package usurper-1.0 brings a {file} of its own" in error or "the reserved name `python" in error, error
    place.assert_nothing_is_left()
    monkeypatch.delenv("PIP_NO_INDEX")
    with wheels.Index(place.packages) as index:
        definition = {"python_path": PYTHON, "pip_packages": ["gadget"], "pip_index_url": index.url}
        assert run_once(place, definition, "import gadget; print(gadget.VERSION)") == "1.0\n"
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        definition = {"python_path": PYTHON, "pip_packages": ["gadget==1.0"]}
        assert run_once(place, definition, "import gadget; print(gadget.VERSION)") == "1.0\n"
    assert index.requests


def hiding(*folders):
    """A command that runs what follows where nothing is in FOLDERS."""
    mounts = "".join(f"mount -t tmpfs none {folder} && " for folder in folders)
    return [*NAMESPACE, "sh", "-c", mounts + 'exec "$0"', os.environ["PYEXECD"]]


@needs_pip
@needs_namespace
def test_without_ensurepip_the_pythons_own_pip_is_used_or_what_to_install_is_told(place):
    place.wheel("gadget")
    asked = subprocess.run(
        [PYTHON, "-c", "import ensurepip, os; print(os.path.dirname(ensurepip.__file__)); "
         "import pip; print(os.path.dirname(pip.__file__))"],
        capture_output=True, text=True, check=False)
    ensurepip, *pip = asked.stdout.split()
    definition = place.links("gadget", python_path=PYTHON)
    if pip:
        assert run_once(place, definition, "import gadget; print(gadget.VERSION)",
                        hiding(ensurepip)) == "1.0\n"
        assert not list(place.venvs()[0].glob("bin/pip*"))
        shutil.rmtree(place.state)
    with initialized(place.server(command=hiding(ensurepip, *pip), with_packages=definition,
                                  without={"python_path": PYTHON})) as server:
        error = failure(server)
        assert re.search(r"has neither ensurepip nor pip, and there is no uv on PATH: "
                         r"install python3\.\d+-venv", error), error
        assert output(server, "print(1)", environment="without") == "1\n"
    place.assert_nothing_is_left()


@needs_pip
@needs_namespace
def test_a_venv_without_pip_that_no_ensurepip_helps_says_what_to_install(place):
    place.wheel("gadget")
    venv = place.folder / "mine"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", venv], check=True)
    asked = subprocess.run([PYTHON, "-c", "import ensurepip, os; print(ensurepip.__path__[0]); "
                            "import pip; print(os.path.dirname(pip.__file__))"],
                           capture_output=True, text=True, check=False)
    error = fail_once(place, place.links("gadget", venv_path=str(venv)),
                      hiding(*asked.stdout.split()))
    assert re.search(r"has neither ensurepip nor pip, and there is no uv on PATH: "
                     r"install python3\.\d+-venv .* or uv", error), error
    place.assert_nothing_is_left()


# Full disks


@needs_pip
@needs_namespace
@pytest.mark.parametrize("size, step", [("1m", "unpacking pip"), ("2300k", "creating venv"),
                                        ("8m", "installing gadget")])
def test_a_full_disk_is_told_and_nothing_is_left(place, size, step):
    place.wheel("gadget", modules={"gadget.py": "VERSION = '1'\n" + "#" * 20_000_000})
    place.state.parent.mkdir()
    listing = place.folder / "listing"
    command = [*NAMESPACE, "sh", "-c",
               f'mount -t tmpfs -o size={size} none "$XDG_STATE_HOME" && "$0" && '
               f'find "$XDG_STATE_HOME"/pyexecd/venvs "$XDG_STATE_HOME"/pyexecd/pythons '
               f'-mindepth 1 -maxdepth 1 -name "*" >{listing}; true', os.environ["PYEXECD"]]
    with initialized(place.server(place.links("gadget"), command=command)) as server:
        error = failure(server)
        assert step in error and "No space left on device" in error, error
        assert step in failure(server)  # and is tried again
    left = [line for line in listing.read_text().splitlines() if "/venvs/" in line]
    assert left == []
    place.assert_nothing_is_left()


# What is not used any more


def test_a_venv_that_nobody_has_used_for_long_is_removed(place):
    run_once(place, {}, "print(1)")
    run_once(place, {"system_site_packages": True}, "print(1)")
    old, young = place.venvs()
    os.utime(old / "pyexecd.json", (0, time.time() - 31 * 86400))
    os.utime(young / "pyexecd.json", (0, time.time() - 29 * 86400))
    with initialized(place.server({"venv_path": str(place.folder / "another")})):
        assert leftovers.until(lambda: not old.exists())
        time.sleep(0.2)
    assert place.venvs() == [young]
    for definition in ({}, {"system_site_packages": True}):
        run_once(place, definition, "print(1)")
    assert time.time() - (young / "pyexecd.json").stat().st_mtime < 3600


def test_an_old_record_of_a_venv_that_is_gone_is_removed(place):
    for name in ("gone", "young", "there"):
        run_once(place, {"venv_path": str(place.folder / name)}, "print(1)")
    records = {pathlib.Path(json.loads(path.read_text())["path"]).name: path for path in (place.state / "venv-records").iterdir()}
    for name in ("gone", "young"):
        shutil.rmtree(place.folder / name)
    for name in ("gone", "there"):
        os.utime(records[name], (0, time.time() - 31 * 86400))
    environment = {"type": "venv", "venv_path": str(place.folder / "there")}
    with initialized(client.Server("--log-level", "debug", config={"environments": {"venv": environment}})) as server:
        assert leftovers.until(lambda: "checking records -> off" in server.stderr())
    assert not records["gone"].exists() and records["young"].exists() and records["there"].exists()


def test_a_venv_that_is_in_use_is_not_removed(place):
    with initialized(place.server({})) as server:
        output(server, "print(1)")
        (venv,) = place.venvs()
        (venv / "kept").write_text("")  # one that is made anew would not have it
        os.utime(venv / "pyexecd.json", (0, 0))
        with initialized(place.server({"system_site_packages": True})):
            time.sleep(1.5)
    assert (venv / "kept").exists()
