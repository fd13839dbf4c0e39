"""Definitions in calls that add packages to an environment of the configuration, which stays what it is."""

import json
import os
import subprocess
import time

import pytest

import client
import wheels
from sessions import Session, text_of
from test_approval import ACCEPT, ELICITATION, Person
from test_inline import needs_pip
from test_reload import reload
from test_session_reload import assert_refused, manage, refusal

VERSION = "import gadget; print(gadget.VERSION)"
PYTHON = "/usr/bin/python3"


@pytest.fixture(scope="module", autouse=True)
def index(tmp_path_factory):
    """A package index of the tests' own, which servers that are started meanwhile use."""
    folder = tmp_path_factory.mktemp("index")
    wheels.wheel(folder, "gadget", "1.0")
    wheels.wheel(folder, "gadget", "2.0", requires=["widget"])
    wheels.wheel(folder, "widget", "3.0")
    with wheels.Index(folder) as index, pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("PIP_", "UV_")):
                patch.delenv(name)
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("PIP_INDEX_URL", index.url)
        patch.setenv("PIP_TRUSTED_HOST", index.host)
        yield index


def server(environments, **config):
    return client.Server("--log-level", "debug", config={"environments": environments, "default_environment": next(iter(environments)), **config})


def call(server, code, base, *packages, **more):
    definition = {"type": "venv", "extends": base, "pip_packages": list(packages), **more}
    return server.call_tool("run_python", {"code": code, "environment_definition": definition}, timeout=180)


def text(result):
    return result["content"][0]["text"]


def venv(folder, *options):
    """A venv of the operator's, without pip; the directory of its packages."""
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", *options, folder], check=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    return packages


@needs_pip
def test_scripts_have_the_packages_and_all_that_the_environment_opens(tmp_path):
    seen = tmp_path / "seen"
    seen.mkdir()
    (seen / "data").write_text("shown")
    box = {"type": "system", "read": [str(seen)], "environment": {"PLACE": str(seen)}, "limits": {"processes": 33}}
    code = ("import gadget, os, resource\n"
            "print(gadget.VERSION, open(os.environ['PLACE'] + '/data').read())\n"
            f"print(os.access({str(seen)!r}, os.W_OK), os.path.exists('/etc/shadow'))")
    with server({"box": box}) as running:
        running.initialize()
        result = call(running, code, "box", "gadget<2")
        plain = running.call_tool("run_python", {"code": "import gadget"}, timeout=60)
    assert result["structuredContent"]["stdout"] == "1.0 shown\nFalse False\n", result
    assert "No module named 'gadget'" in text(plain)


@needs_pip
def test_packages_of_the_environment_stay(tmp_path):
    """A venv has its own, and gets the others beside them."""
    with server({"venv": {"type": "venv", "pip_packages": ["widget"]}}, sessions={}) as running:
        running.initialize()
        result = call(running, "import gadget, widget; print(gadget.VERSION, widget.VERSION)", "venv", "gadget==1.0")
        session = running.call_tool("run_python", {
            "code": "import gadget", "session": "new",
            "environment_definition": {"type": "venv", "extends": "venv", "pip_packages": ["gadget==1.0"]}}, timeout=60)
        name = session["structuredContent"]["session"]["name"]
        cell = running.call_tool("run_python", {"code": "print(gadget.VERSION)", "session": name}, timeout=60)
    assert result["structuredContent"]["stdout"] == "1.0 3.0\n", result
    assert cell["structuredContent"]["stdout"] == "1.0\n", cell


@needs_pip
@pytest.mark.parametrize("name, options", [("venv", []), ("v\N{SNAKE}'\\\N{LATIN SMALL LETTER E WITH ACUTE}nv", ["--system-site-packages"])])
def test_packages_of_the_venv_whose_python_it_is_are_there(tmp_path, name, options):
    """Those that files in it name, too, as an editable installation has them."""
    packages = venv(tmp_path / name, *options)
    source = tmp_path / "source"
    source.mkdir()
    (source / "edited.py").write_text("VERSION = 'edited'\n")
    (packages / "own.py").write_text("VERSION = 'own'\n")
    program = tmp_path / name / "bin/own-program"
    program.write_text(f"#!{tmp_path}/{name}/bin/python3\nimport gadget, own\nprint('run', gadget.VERSION, own.VERSION)\n")
    program.chmod(0o755)
    (packages / "edited.pth").write_text(f"{source}\n")
    box = {"type": "system", "executable": str(tmp_path / name / "bin/python"), "read": [str(source)]}
    code = ("import edited, gadget, own, subprocess, sys\n"
            "subprocess.run(['own-program'], check=True)\n"
            "print(gadget.VERSION, own.VERSION, edited.VERSION)\n"
            "print(any('dist-packages' in each for each in sys.path))\n"
            "open(own.__file__, 'w')")
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({"environments": {"box": box}}, ensure_ascii=False))  # YAML has no pairs of surrogates
    with client.Server("--config", str(config)) as running:
        running.initialize()
        result = call(running, code, "box", "gadget<2")
    assert result["structuredContent"]["stdout"] == f"run 1.0 own\n1.0 own edited\n{bool(options)}\n", result
    assert "Read-only file system" in text(result)


@needs_pip
def test_what_the_venv_has_is_not_installed_again(tmp_path, index):
    packages = venv(tmp_path / "venv")
    (packages / "widget.py").write_text("VERSION = 'own'\n")
    (packages / "widget-9.dist-info").mkdir()
    (packages / "widget-9.dist-info" / "METADATA").write_text(wheels.metadata("widget", "9"))
    box = {"type": "system", "executable": str(tmp_path / "venv/bin/python")}
    with server({"box": box}) as running:
        running.initialize()
        code = "import gadget, widget; print(gadget.VERSION, widget.VERSION)"
        kept = call(running, code, "box", "gadget", "widget")
        replaced = call(running, code, "box", "gadget", "widget<9")
    assert kept["structuredContent"]["stdout"] == "2.0 own\n", kept
    assert replaced["structuredContent"]["stdout"] == "2.0 3.0\n", replaced


@needs_pip
def test_a_venv_that_begins_to_show_its_base_does_so_here(tmp_path):
    """Whoever owns it has made it anew."""
    venv(tmp_path / "venv")
    code = "import sys; print(any('dist-packages' in each for each in sys.path))"
    with server({"box": {"type": "system", "executable": str(tmp_path / "venv/bin/python")}}) as running:
        running.initialize()
        before = call(running, code, "box", "gadget<2")
        venv(tmp_path / "venv", "--system-site-packages")
        after = call(running, code, "box", "gadget<2")
    assert [each["structuredContent"]["stdout"] for each in (before, after)] == ["False\n", "True\n"]


@needs_pip
def test_what_is_not_used_any_more_is_kept_for_an_hour(tmp_path, monkeypatch):
    """Each list of packages has a venv."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with server({"box": {"type": "system"}}) as running:
        running.initialize()
        assert not call(running, "import gadget", "box", "gadget<2")["isError"]
        (record,) = tmp_path.rglob("pyexecd.json")
        os.utime(record, (0, 0))
    assert 0 < kept(record) <= 3600


def kept(record):
    """For how many seconds RECORD is still kept."""
    return record.stat().st_mtime + 30 * 86400 - time.time()


@needs_pip
def test_the_venv_of_its_environment_is_kept_as_before(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with server({"box": {"type": "venv", "pip_packages": ["gadget<2"]}}) as running:
        running.initialize()
        assert not running.call_tool("run_python", {"code": "import gadget"}, timeout=180)["isError"]
        (record,) = tmp_path.rglob("pyexecd.json")
        assert not call(running, "import gadget", "box")["isError"]
    assert kept(record) > 29 * 86400


# Sessions that are older than the configuration


def extending(*packages):
    return {"type": "venv", "extends": "box", "pip_packages": list(packages)}


@needs_pip
def test_a_session_goes_on_only_while_its_environment_is_there():
    other, box = {"other": {"type": "system"}}, {"box": {"type": "system"}}
    with server({**other, **box}, sessions={}) as running:
        running.initialize()
        session = Session(running, "x = 1", environment_definition=extending("gadget"))
        reload(running, {"environments": other, "sessions": {}})
        assert_refused(session, "there is no such environment")
        forked = {"code": "print(x)", "fork": session.name}
        assert "there is no such environment" in refusal(lambda: running.call_tool("run_python", forked))
        reload(running, {"environments": {**other, **box}, "default_environment": "other", "sessions": {}})
        assert session.shown("x") == "1"


@needs_pip
@pytest.mark.parametrize("now, of_server, asked", [("always", "never", 1), ("never", "always", 1), ("never", "never", 0)])
def test_the_approval_of_its_environment_is_that_of_today(now, of_server, asked):
    config = {"sessions": {}, "approval": "never", "callers": {"define_environments": True}}
    with server({"box": {"type": "system", "approval": "never"}}, **config) as running:
        running.initialize("2025-11-25", ELICITATION)
        someone = Person(running, "2025-11-25")
        begun, _ = someone.call({"code": "x = 1", "session": "new", "environment_definition": extending("gadget")})
        name = begun["structuredContent"]["session"]["name"]
        reload(running, {**config, "approval": of_server, "environments": {"box": {"type": "system", "approval": now}}})
        result, questions = someone.call({"code": "print(x)", "session": name}, *[ACCEPT] * asked)
        assert result["structuredContent"]["stdout"] == "1\n"
    assert all("Environment: box of the configuration, with packages of the caller's (venv)" in each["message"]
               for each in questions)


@needs_pip
def test_a_restart_has_the_packages_of_its_environment_as_it_is_today():
    def boxes(*packages):
        return {"environments": {"box": {"type": "venv", "pip_packages": list(packages)}}, "sessions": {}}

    with server(**boxes("widget", "gadget<2; python_version > '3'")) as running:
        running.initialize()
        session = Session(running, "import gadget, widget", environment_definition=extending("gadget"))
        for packages in ([], ["widget"]):
            reload(running, boxes(*packages))
            assert "new Python" in text_of(manage(running, "restart", session.name))
            assert session.shown("import gadget; gadget.VERSION") == "'2.0'"


@pytest.mark.parametrize("more, words", [
    ({"extends": "nowhere"}, "extends: there is no such environment"),
    ({"extends": "box\0x"}, "extends: there is no such environment"),
    ({"extends": 7}, "extends: there is no such environment"),
    ({"extends": "place"}, 'calls can add no packages to environment "place": its venv is the one at venv_path'),
    ({"extends": "container"}, 'calls can add no packages to environment "container": its Python does not belong to this machine'),
    ({"extends": "built"}, 'calls can add no packages to environment "built": its own may be built from source'),
    ({"extends": "hashed"}, 'calls can add no packages to environment "hashed": its own are named with hashes'),
    ({"type": "system"}, "beside extends there are type, which is venv"),
    ({"type": "docker"}, "beside extends there are type, which is venv"),
    ({"network": "none"}, "beside extends there are type, which is venv, and pip_packages; nothing else"),
    ({"pip_packages": ["-r x"]}, "pip_packages"),
    ({"pip_packages": ["gadget; python_version > '3'"]}, "no marker"),
])
def test_other_definitions_are_refused(tmp_path, more, words):
    hashes = tmp_path / "hashes.txt"
    hashes.write_text(f"gadget==1.0 --hash=sha256:{'0' * 64}\n")
    others = {"place": {"type": "venv", "venv_path": str(tmp_path / "venv")}, "container": {"type": "docker"},
              "built": {"type": "venv", "allow_source_builds": True}, "hashed": {"type": "venv", "requirements_file": str(hashes)}}
    with server({"box": {"type": "system"}, **others}) as running:
        running.initialize()
        result = call(running, "print(1)", "box", **more)
    assert result["isError"] and words in text(result), result


def test_nothing_is_installed_beside_a_python_that_scripts_can_change(tmp_path):
    venv(tmp_path / "venv")
    box = {"type": "system", "executable": str(tmp_path / "venv/bin/python"), "write": [str(tmp_path / "venv")]}
    with server({"box": box}) as running:
        running.initialize()
        result = call(running, "print(1)", "box", "gadget")
    assert result["isError"] and f"python_path: lies in {tmp_path}/venv, where scripts of box can write" in text(result)


@needs_pip
def test_places_of_the_environment_are_those_of_its_start(tmp_path):
    """A script makes one of them a link to somewhere else."""
    secret, work, place = tmp_path / "secret", tmp_path / "work", tmp_path / "work" / "deep" / "place"
    for each in (secret / "place", place):
        each.mkdir(parents=True)
    (secret / "place" / "data").write_text("secret")
    box = {"type": "system", "write": [str(work)], "isolation": "sandbox"}
    reader = {"type": "system", "read": [str(place)], "isolation": "sandbox"}
    code = f"import os; os.rename('{work}/deep', '{work}/moved'); os.symlink('{secret}', '{work}/deep')"
    with server({"box": box, "reader": reader}) as running:
        running.initialize()
        moved = running.call_tool("run_python", {"code": code}, timeout=60)
        result = call(running, f"print(open('{secret}/place/data').read())", "reader", "gadget<2")
    assert not moved["isError"], moved
    assert result["isError"] and "secret\n" not in text(result), result
