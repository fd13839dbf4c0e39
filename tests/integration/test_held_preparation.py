"""What prepares an environment whose scripts run in a sandbox is held as well: installers, what a package runs while
it is built, and the question to an interpreter what it is."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import client
import pytest
import wheels

PYTHON = "/usr/bin/python3"
ROOT = pathlib.Path(__file__).resolve().parents[2]
UV = ROOT / ".deps" / "tools" / "bin" / "uv"
LIMITED = [sys.executable, str(ROOT / "tests" / "integration" / "limited.py"), "namespaces", "--",
           os.environ["PYEXECD"]]
TIMEOUT = 300  # seconds: pip starts slowly on a busy machine

# What the build of a package finds out is told in its metadata.
TRIES = """exec('''
import json
import os
def tries(what, *arguments):
    try:
        return what(*arguments)
    except OSError:
        return "refused"
read = tries(lambda: open({secret!r}).read())
written = tries(lambda: open({victim!r}, "a").write("x"))
seen = [each for each in os.listdir("/proc") if each.isdigit()]
METADATA += "Summary: read " + str(read) + ", written " + str(written) + ", processes " + str(len(seen)) + chr(10)
''', globals())"""
TELL = "from importlib.metadata import metadata; print(metadata('hostile')['Summary'])"


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_", "PYENV_", "XDG_")):
            monkeypatch.delenv(name)
    for name in ("home", "packages", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "home" / "secret").write_text("the secret of the user")
    (tmp_path / "elsewhere" / "victim").write_text("as it was")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")


def environment(folder, *packages, **more):
    return {"type": "venv", "isolation": "sandbox", "pip_packages": list(packages),
            "pip_find_links": f"{folder}/packages", **more}


def run(definition, code, command=None):
    """The result of CODE in an environment of DEFINITION. COMMAND takes away some of what this machine has, which the
    server has to have met before a script."""
    environments = {"held": definition, "first": {"type": "system", "isolation": "none"}}
    config = {"default_environment": "held", "environments": environments}
    with client.Server(command=command, config=config) as server:
        server.initialize()
        if command:
            server.call_tool("run_python", {"code": "pass", "environment": "first"}, timeout=TIMEOUT)
        result = server.call_tool("run_python", {"code": code}, timeout=TIMEOUT)["structuredContent"]
        if result["containment"].get("layers", {}).get("own root directory") == "absent" and command is None:
            pytest.skip("this machine gives a run no root of its own")
        return result


def output(definition, code, command=None):
    result = run(definition, code, command)
    assert result["success"], result
    return result["stdout"]


def build_hostile_package(folder, command=None, **more):
    """What a package could do that tries, while it is built, what it is not to do."""
    wheels.sdist(folder / "packages", "hostile",
                 build=TRIES.format(secret=f"{folder}/home/secret", victim=f"{folder}/elsewhere/victim"))
    return output({**environment(folder, "hostile", allow_source_builds=True), **more}, TELL, command)


@pytest.mark.plain
def test_a_build_reads_no_home_changes_nothing_outside_and_sees_nobody(tmp_path):
    told = build_hostile_package(tmp_path)
    assert told.startswith("read refused, written refused, processes ")
    assert int(told.split()[-1]) <= 6  # pid 1, pip, and who runs the build for it
    assert (tmp_path / "elsewhere" / "victim").read_text() == "as it was"


@pytest.mark.plain
def test_file_rules_alone_keep_a_build_from_files(tmp_path):
    assert build_hostile_package(tmp_path, LIMITED).startswith("read refused, written refused, ")
    assert (tmp_path / "elsewhere" / "victim").read_text() == "as it was"


def test_without_a_sandbox_the_same_build_does_it_all(tmp_path):
    assert build_hostile_package(tmp_path, isolation="none").startswith("read the secret of the user, written 1, ")


@pytest.mark.plain
def test_a_package_is_built_and_installed(tmp_path):
    wheels.sdist(tmp_path / "packages", "gadget", version="2.5")
    definition = environment(tmp_path, "gadget", allow_source_builds=True)
    assert output(definition, "import gadget; print(gadget.VERSION)") == "2.5\n"


@pytest.mark.plain
@pytest.mark.parametrize("command", [None, LIMITED], ids=["own root", "file rules alone"])
def test_wheels_are_installed_and_found_again(tmp_path, command):
    wheels.wheel(tmp_path / "packages", "gadget", programs={"gad": "gadget:main"},
                 modules={"gadget.py": "def main():\n    print('a program')\n"})
    definition = environment(tmp_path, "gadget")
    code = "import gadget, os, subprocess, sys; gadget.main()\n" \
           "subprocess.run([sys.prefix + '/bin/gad'], check=True)"
    for _ in range(2):
        assert output(definition, code, command) == "a program\na program\n"


def test_packages_come_from_an_index_of_the_network(tmp_path, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    wheels.wheel(tmp_path / "packages", "gadget")
    with wheels.Index(tmp_path / "packages") as index:
        definition = {"type": "venv", "isolation": "sandbox", "pip_packages": ["gadget"], "pip_index_url": index.url}
        assert output(definition, "import gadget; print(gadget.VERSION)") == "1.0\n"


def test_the_settings_of_the_user_hold(tmp_path, monkeypatch):
    monkeypatch.delenv("PIP_CONFIG_FILE")
    wheels.wheel(tmp_path / "packages", "gadget")
    settings = tmp_path / "home" / ".config" / "pip"
    settings.mkdir(parents=True)
    (settings / "pip.conf").write_text(f"[global]\nno-index = true\nfind-links = {tmp_path}/packages\n")
    definition = {"type": "venv", "isolation": "sandbox", "pip_packages": ["gadget"]}
    assert output(definition, "import gadget; print(gadget.VERSION)") == "1.0\n"


@pytest.mark.skipif(not UV.exists(), reason="no uv here")
def test_uv_installs_in_a_sandbox(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uv").symlink_to(UV.resolve())
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    wheels.wheel(tmp_path / "packages", "gadget")
    assert output(environment(tmp_path, "gadget"), "import gadget; print(gadget.VERSION)") == "1.0\n"


def test_packages_come_into_a_venv_of_the_operator(tmp_path):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", tmp_path / "mine"], check=True)
    wheels.wheel(tmp_path / "packages", "gadget")
    definition = environment(tmp_path, "gadget", venv_path=f"{tmp_path}/mine")
    assert output(definition, "import gadget; print(gadget.VERSION)") == "1.0\n"


@pytest.mark.plain
def test_where_every_layer_is_required_nothing_is_prepared_without_one(tmp_path):
    wheels.wheel(tmp_path / "packages", "gadget")
    result = run(environment(tmp_path, "gadget", require="sandbox"), "print(1)", LIMITED)
    assert not result["success"] and "sandbox" in result["error"], result
    assert not list((tmp_path / "state" / "pyexecd").glob("venvs/*/bin"))


def interpreter(folder, lines):
    """A program that does LINES, in the shell, before it becomes the Python of this machine."""
    path = folder / "python" / "bin" / "python3"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{lines}\nexec {PYTHON} \"$@\"\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.plain
def test_an_interpreter_that_is_asked_changes_nothing_and_reads_no_home(tmp_path):
    victim, stolen = tmp_path / "elsewhere" / "victim", tmp_path / "elsewhere" / "stolen"
    python = interpreter(tmp_path, f"echo changed > {victim}; cat {tmp_path}/home/secret > {stolen}; "
                                   f"cat {tmp_path}/home/secret && exit 3")
    definition = {"type": "system", "isolation": "sandbox", "executable": python}
    assert output(definition, "print(6 * 7)") == "42\n"
    assert victim.read_text() == "as it was" and not stolen.exists()


def test_without_a_sandbox_it_is_asked_as_before(tmp_path):
    victim = tmp_path / "elsewhere" / "victim"
    python = interpreter(tmp_path, f"echo changed > {victim}")
    assert output({"type": "system", "executable": python, "isolation": "none"}, "print(6 * 7)") == "42\n"
    assert victim.read_text() == "changed\n"


@pytest.mark.plain
def test_an_interpreter_that_is_asked_has_no_network(tmp_path):
    with wheels.Index(tmp_path / "packages") as index:
        python = interpreter(tmp_path, f"{PYTHON} -c \"import urllib.request; urllib.request.urlopen('{index.url}')\" "
                                       "2>/dev/null")
        assert output({"type": "system", "isolation": "sandbox", "executable": python}, "print(6 * 7)") == "42\n"
        assert not index.requests


def prefix(folder):
    """A Python of its own prefix there, as version managers keep them: programs and links to the machine's library."""
    version = subprocess.run([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                             capture_output=True, text=True, check=True).stdout.strip()
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    shutil.copy2(PYTHON, folder / "bin" / "python3")
    shutil.copytree(f"/usr/lib/python{version}", folder / "lib" / f"python{version}", symlinks=True,
                    ignore=shutil.ignore_patterns("__pycache__", "dist-packages", "test*", "idlelib"))
    return str(folder / "bin" / "python3")


@pytest.mark.plain
@pytest.mark.parametrize("place", ["home/.pyenv/versions/3", "home/.asdf/installs/python/3",
                                   "home/.local/share/uv/python/cpython-3", "home/.local"])
def test_a_python_of_a_version_manager_is_asked_where_it_is(tmp_path, place):
    python = prefix(tmp_path / place)
    for definition in ({"type": "system", "executable": python}, {"type": "venv", "python_path": python}):
        where = output({**definition, "isolation": "sandbox"}, "import sys; print(sys.base_prefix)")
        assert where == f"{tmp_path}/{place}\n"


def test_the_shim_of_a_version_manager_is_asked(tmp_path):
    python = prefix(tmp_path / "home/.pyenv/versions/3")
    shim = tmp_path / "home" / ".pyenv" / "shims" / "python3"
    shim.parent.mkdir()
    (tmp_path / "home" / ".pyenv" / "version").write_text("3")
    shim.write_text('#!/bin/sh\nroot=$(dirname "$(dirname "$0")")\n'
                    'exec "$root/versions/$(cat "$root/version")/bin/python3" "$@"\n')
    shim.chmod(0o755)
    definition = {"type": "system", "isolation": "sandbox", "executable": str(shim)}
    assert output(definition, "import sys; print(sys.executable)") == f"{python}\n"


def told(folder, arguments, *limits):
    """What pyexecd says with ARGUMENTS of one environment that is made in a sandbox."""
    wheels.wheel(folder / "packages", "gadget")
    config = folder / "config.yaml"
    config.write_text(json.dumps({"environments": {"held": environment(folder, "gadget")},
                                  "default_environment": "held"}))
    command = [sys.executable, ROOT / "tests" / "integration" / "limited.py", *limits, "--", os.environ["PYEXECD"]]
    ran = subprocess.run([*command, *arguments, "--config", config], capture_output=True, text=True, timeout=TIMEOUT)
    assert ran.returncode == 0, ran.stderr
    return ran


@pytest.mark.plain
def test_a_preparation_says_which_layers_it_was_without(tmp_path):
    ran = told(tmp_path, ["prepare"], "pivot_root=EPERM")
    assert ran.stdout.endswith("; prepared without: own root directory\n")
    assert "environment held was prepared without: own root directory" in ran.stderr


def test_a_preparation_that_had_every_layer_says_nothing(tmp_path):
    [prepared] = json.loads(told(tmp_path, ["prepare", "--json"]).stdout)
    if run({"type": "system", "isolation": "sandbox"}, "pass")["containment"]["missing"]:
        pytest.skip("this machine has not everything")
    assert prepared["ready"] and "absent" not in prepared


def test_the_form_for_programs_has_the_layers_too(tmp_path):
    [prepared] = json.loads(told(tmp_path, ["prepare", "--json"], "pivot_root=EPERM").stdout)
    assert prepared["absent"] == ["own root directory"]


def test_doctor_says_so_of_the_preparation_beside_the_run(tmp_path):
    doctor = told(tmp_path, ["doctor"], "pivot_root=EPERM").stdout
    assert "  no     preparation      without: own root directory\n" in doctor
