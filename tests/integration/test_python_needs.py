"""What of the machine a Python needs to read, as `doctor` prints it, for Pythons of every kind; and that with nothing
else it works."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import client
import plain_user

PYTHON = "/usr/bin/python3"
ROOT = pathlib.Path(__file__).resolve().parents[2]
UV = ROOT / ".deps" / "tools" / "bin" / "uv"
HOME = pathlib.Path(os.environ.get("HOME", "/nonexistent"))  # of whoever runs the tests
PYENV = sorted(HOME.glob(".pyenv/versions/3.*/bin/python3"))
NAMESPACES = ["unshare", "--map-root-user", "--mount", "--pid", "--fork"]
VERSION = "python{}.{}".format(*sys.version_info[:2])  # these tests run with Debian's

# What every sandbox shows, and PATHS; in a root of its own the command that follows.
SHOW = r"""
set -eu
root=$1; shift
mount -t tmpfs root "$root"
show() {
    mkdir -p "$root$(dirname "$1")"
    if [ -L "$1" ]; then ln -s "$(readlink "$1")" "$root$1"
    elif [ -d "$1" ]; then mkdir -p "$root$1"; mount --rbind "$1" "$root$1"
    else touch "$root$1"; mount --bind "$1" "$root$1"; fi
}
for path in /usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc/alternatives; do
    if [ -e "$path" ]; then show "$path"; fi
done
while [ "$1" != -- ]; do show "$1"; shift; done
shift
mkdir "$root/proc"; mount -t proc proc "$root/proc"
exec /usr/sbin/chroot "$root" env -i "$@"
"""

# Modules of the library, of extensions and of packages; where the interpreter thinks that it is.
TRIAL = "import json, ssl, sqlite3, ctypes, decimal, multiprocessing, subprocess, sys, sysconfig; " \
        "subprocess.run([sys.executable, '-c', 'import bz2, lzma'], check=True); " \
        "print(sys.prefix, sys.base_prefix, *map(bool, map(sysconfig.get_path, ['stdlib', 'purelib'])))"


def can(*command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """A user without settings, whose home and state directory are the test's."""
    plain_user.become(monkeypatch, tmp_path)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def doctor(folder, **definitions):
    """The interpreter of each environment, and the paths that it needs."""
    config = folder / "config.json"
    config.write_text(json.dumps({"environments": definitions, "default_environment": next(iter(definitions))}))
    config.chmod(0o600)
    result = subprocess.run([os.environ["PYEXECD"], "doctor", "-c", config], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    lines = result.stdout.split("\nenvironments\n")[1].split("\ncontainment\n")[0].splitlines()
    found = {}
    for line in lines:
        mark, name, text = line[2:6].strip(), line[7:26].strip(), line[26:]
        if name in ("isolation", "missing"):
            continue
        if mark:
            assert mark == "yes", line
            needs = []
            found[name] = (text.split(",")[0], needs)
        else:
            assert name == ("" if needs else "needs to read"), line
            needs.append(text)
    return found


def needs_of(folder, **definition):
    """What the one environment with DEFINITION needs: its interpreter, and a list."""
    python, needs = doctor(folder, it=definition)["it"]
    if needs == ["only the system's own programs"]:
        return python, []
    assert all(os.path.isabs(path) and os.path.lexists(path) for path in needs), needs
    assert needs == sorted(set(needs))
    return python, needs


def assert_works_with_nothing_else(tmp_path, python, needs):
    """Runs PYTHON where there is nothing but NEEDS and the system's programs."""
    if not can(*NAMESPACES, "true"):
        pytest.skip("no user namespaces")
    root = tmp_path / "root"
    root.mkdir(exist_ok=True)
    inside = subprocess.run([*NAMESPACES, "sh", "-c", SHOW, "show", root, *needs, "--", python, "-c", TRIAL],
                            capture_output=True, text=True, check=False, timeout=300)
    outside = subprocess.run(["env", "-i", python, "-c", TRIAL], capture_output=True, text=True, check=False,
                             timeout=300)
    assert inside.returncode == 0, inside.stderr
    assert (inside.stdout, inside.stderr) == (outside.stdout, outside.stderr)


def install(prefix):
    """A Python of its own at PREFIX, made of Debian's: the program, and its library with a link to each part."""
    library = prefix / "lib" / VERSION
    (prefix / "bin").mkdir(parents=True)
    shutil.copy(os.path.realpath(PYTHON), prefix / "bin" / VERSION)
    (prefix / "bin" / "python3").symlink_to(VERSION)
    (library / "site-packages").mkdir(parents=True)
    (prefix / "include" / VERSION).mkdir(parents=True)
    for path in pathlib.Path("/usr/lib", VERSION).iterdir():
        (library / path.name).symlink_to(path)
    return prefix / "bin" / "python3"


def venv_of(python, path):
    subprocess.run([python, "-m", "venv", "--without-pip", path], check=True)
    return path


def test_debians_needs_nothing_more(tmp_path):
    python, needs = needs_of(tmp_path, type="system", executable=PYTHON)
    assert (python, needs) == (PYTHON, [])
    assert_works_with_nothing_else(tmp_path, python, needs)


def test_one_in_a_home_needs_its_prefix(tmp_path, home):
    python, needs = needs_of(tmp_path, type="system", executable=str(install(home / "pythons" / "3")))
    assert needs == [f"{home}/pythons/3"]
    assert_works_with_nothing_else(tmp_path, python, needs)


def test_one_that_is_a_home_needs_its_parts(tmp_path, home):
    (home / ".ssh").mkdir()
    python, needs = needs_of(tmp_path, type="system", executable=str(install(home)))
    assert needs == [f"{home}/{part}" for part in ("bin", f"include/{VERSION}", f"lib/{VERSION}")]
    assert_works_with_nothing_else(tmp_path, python, needs)


def test_one_behind_links_needs_these_and_no_other_file_beside_them(tmp_path, home):
    install(home / "uv" / "cpython-3.1")
    (home / "uv" / "cpython-3").symlink_to("cpython-3.1")
    (home / ".local" / "bin").mkdir(parents=True)
    (home / ".local" / "bin" / "other").touch()
    (home / ".local" / "bin" / "python3").symlink_to("../../uv/cpython-3/bin/python3")
    python, needs = needs_of(tmp_path, type="system", executable=f"{home}/.local/bin/python3")
    assert python == f"{home}/.local/bin/python3"
    assert needs == [f"{home}/{path}" for path in (".local/bin/python3", "uv/cpython-3", "uv/cpython-3.1")]
    assert_works_with_nothing_else(tmp_path, python, needs)


@pytest.mark.skipif(not PYENV, reason="no pyenv on this machine")
def test_pyenvs_needs_its_version_only(tmp_path):
    executable = PYENV[-1]
    python, needs = needs_of(tmp_path, type="system", executable=str(executable))
    assert needs == [str(executable.parents[1])]
    assert_works_with_nothing_else(tmp_path, python, needs)
    python, needs = needs_of(tmp_path, type="venv", python_path=str(executable))
    assert needs == sorted([str(executable.parents[1]), str(pathlib.Path(python).parents[1])])
    assert_works_with_nothing_else(tmp_path, python, needs)


def test_a_venv_of_the_server_needs_itself_and_its_base(tmp_path, home):
    base = install(home / "base")
    for base, more in ((PYTHON, []), (base, [f"{home}/base"])):
        python, needs = needs_of(tmp_path, type="venv", python_path=str(base))
        assert python.startswith(f"{tmp_path}/state/pyexecd/venvs/")
        assert needs == sorted([*more, str(pathlib.Path(python).parents[1])])
        assert_works_with_nothing_else(tmp_path, python, needs)


@pytest.mark.parametrize("kind", ["system", "venv"])
def test_a_venv_of_the_operator_needs_itself_and_its_base(tmp_path, home, kind):
    base = install(home / "base")
    for base, more in ((PYTHON, []), (base, [f"{home}/base"])):
        path = venv_of(base, tmp_path / f"venv{len(more)}")
        named = {"executable": f"{path}/bin/python"} if kind == "system" else {"venv_path": str(path)}
        python, needs = needs_of(tmp_path, type=kind, **named)
        assert needs == sorted([*more, str(path)])
        assert_works_with_nothing_else(tmp_path, python, needs)


def test_a_venv_that_is_found_by_a_link_needs_it(tmp_path):
    venv_of(PYTHON, tmp_path / "venv")
    (tmp_path / "current").symlink_to("venv")
    python, needs = needs_of(tmp_path, type="venv", venv_path=f"{tmp_path}/current")
    assert needs == [f"{tmp_path}/current", f"{tmp_path}/venv"]
    assert_works_with_nothing_else(tmp_path, python, needs)


@pytest.mark.skipif(not UV.exists(), reason="no uv: ./dev deps test")
def test_a_venv_of_uv_needs_itself_and_its_base_with_its_link(tmp_path, home):
    install(home / "uv" / "cpython-3.1")
    (home / "uv" / "cpython-3").symlink_to("cpython-3.1")
    subprocess.run([UV, "venv", "--offline", "--quiet", "--no-config", "--python", f"{home}/uv/cpython-3/bin/python3",
                    tmp_path / "venv"], check=True)
    python, needs = needs_of(tmp_path, type="venv", venv_path=f"{tmp_path}/venv")
    assert {f"{home}/uv/cpython-3.1", f"{tmp_path}/venv"} <= set(needs) <= {
        f"{home}/uv/cpython-3", f"{home}/uv/cpython-3.1", f"{tmp_path}/venv"}
    assert_works_with_nothing_else(tmp_path, python, needs)


def test_what_is_not_known_of_an_older_venv_is_asked_once(tmp_path, home):
    definition = {"type": "venv", "python_path": str(install(home / "base"))}
    python, needs = needs_of(tmp_path, **definition)
    record = pathlib.Path(python).parents[1] / "pyexecd.json"
    before = json.loads(record.read_text())
    assert before["directories"]
    record.write_text(json.dumps({key: value for key, value in before.items() if key != "directories"}))
    assert needs_of(tmp_path, **definition) == (python, needs)
    after = json.loads(record.read_text())
    assert after.keys() == before.keys() and f"{home}/base" in after["directories"]


def test_what_is_not_known_of_an_older_base_is_asked_again(tmp_path, home):
    definition = {"type": "venv", "python_path": str(install(home / "base"))}
    needs_of(tmp_path, **definition)
    (facts,) = (tmp_path / "state" / "pyexecd" / "pythons").glob("*/facts.json")
    text = json.loads(facts.read_text())
    assert f"{home}/base" in text.pop("directories")
    facts.write_text(json.dumps(text))
    _, needs = needs_of(tmp_path, **definition, venv_path=f"{tmp_path}/new")
    assert needs == [f"{home}/base", f"{tmp_path}/new"]
    assert f"{home}/base" in json.loads(facts.read_text())["directories"]


def test_what_a_venv_runs_at_its_start_has_no_say(tmp_path, home):
    path = venv_of(PYTHON, tmp_path / "venv")
    (home / "mine").mkdir()
    packages = path / "lib" / VERSION / "site-packages"
    (packages / "sitecustomize.py").write_text(f"import sys\nsys.prefix = sys.base_prefix = {str(home / 'mine')!r}\n")
    (packages / "editable.pth").write_text(f"{home}/mine\n")
    _, needs = needs_of(tmp_path, type="venv", venv_path=str(path))
    assert needs == [str(path)]


def test_an_interpreter_that_lies_gets_no_directory_of_others(tmp_path, home):
    wishes = ["/", "/home", "/tmp", "/var/tmp", "/etc", "/proc/1/root", "/opt", str(home), str(home.parent),
              f"{home}/.config", f"{tmp_path}/state/pyexecd", f"{tmp_path}/state/pyexecd/venvs", "relative", "a\nb",
              "", "/" * 5000]
    (home / ".config").mkdir()
    program = tmp_path / "bin" / "python3"
    program.parent.mkdir()
    answer = "".join(f"{wish}\\0" for wish in wishes)
    program.write_text(f"#!/bin/sh\ncase $1 in -BISc) printf 'python\\0{program}\\0003.11.2\\0/usr\\0{answer}';;"
                       f" *) exec {PYTHON} \"$@\";; esac\n")
    program.chmod(0o755)
    _, needs = needs_of(tmp_path, type="system", executable=str(program))
    assert needs == [str(program)]


def test_the_packages_of_a_user_are_not_those_of_scripts(tmp_path, home):
    packages = home / ".local" / "lib" / VERSION / "site-packages"
    packages.mkdir(parents=True)
    (packages / "mine.py").touch()
    _, needs = needs_of(tmp_path, type="system", executable=PYTHON)
    with client.Server() as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": "import mine"})["structuredContent"]
    assert needs == [] and "No module named 'mine'" in result["stderr"]
