"""The wheel that `./dev wheel` makes: which systems it says it runs on, and that it works when it is
installed as users install it."""

import json
import os
import pathlib
import platform
import re
import subprocess
import tarfile
import zipfile

import installed
import pytest

pytestmark = pytest.mark.heavy

CLIENT = pathlib.Path(__file__).with_name("mcp_client.py")
VERSION = re.search(r"version: '(.*?)'", (installed.ROOT / "meson.build").read_text()).group(1)
PYTHON = "/usr/bin/python3"
TARGET_GLIBC = (2, 34)  # of Ubuntu 22.04; Debian 12 has a newer one
DEBIAN_12_GLIBC = (2, 36)
ALWAYS_THERE = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
PREFIX = "import sys; print(sys.prefix)"


def number(text):
    return tuple(int(part) for part in text.split("."))


def named_glibc(wheel):
    """The oldest C library that the name of WHEEL promises to run with."""
    found = re.fullmatch(
        rf"pyexecd-{re.escape(VERSION)}-py3-none-manylinux_(\d+)_(\d+)_{platform.machine()}\.whl",
        wheel.name)
    assert found, wheel.name
    return tuple(map(int, found.groups()))


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory):
    """The ELF files of the wheel."""
    folder = tmp_path_factory.mktemp("programs")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    found = [path for path in folder.rglob("*")
             if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    assert {path.name for path in found} == {
        "pyexecd", "pyexecd-core.so", "pyexecd-init", "pyexecd-picture", "pyexecd-proxy",
        "pyexecd-runner"}
    return found


def objdump(*arguments):
    return subprocess.run(["objdump", *arguments], capture_output=True, text=True,
                          check=True).stdout


def test_it_is_for_every_python_and_no_newer_system_than_this(wheel):
    own = number(platform.libc_ver()[1])
    # A newer Debian than 12 builds for itself and for what comes after it.
    assert named_glibc(wheel) <= (TARGET_GLIBC if own <= DEBIAN_12_GLIBC else own)


def test_it_needs_the_c_library_only_and_the_one_that_it_names(wheel, programs):
    for program in programs:
        headers = objdump("--private-headers", program)
        assert set(re.findall(r"NEEDED +(\S+)", headers)) <= ALWAYS_THERE, program
        for version in re.findall(r"GLIBC_([\d.]+)", headers):
            assert number(version) <= named_glibc(wheel), program


def test_it_has_the_licences_of_what_is_linked_in(wheel):
    with zipfile.ZipFile(wheel) as archive:
        texts = {pathlib.PurePath(name).stem: archive.read(name).decode()
                 for name in archive.namelist() if "/pyexecd/licenses/" in name}
        (own,) = (archive.read(name).decode() for name in archive.namelist()
                  if name.endswith("dist-info/licenses/LICENSE"))
    assert "Apache License" in own
    for library in ("libc6", "libcjose", "libcmark", "libev", "libgif", "libjansson", "libpcre2",
                    "libpng", "libseccomp", "libssl", "libturbojpeg0", "libwebp", "libyaml",
                    "zlib1g"):
        assert "opyright" in texts[f"{library}-dev"]


def test_it_has_manual_pages_and_completions(wheel):
    """Where Python's installers put them into share/ of their prefix, as into ~/.local/share."""
    with zipfile.ZipFile(wheel) as archive:
        shared = {name.partition(".data/data/share/")[2] for name in archive.namelist()}
    assert {"man/man1/pyexecd.1", "man/man1/pyexecd-run.1", "man/man5/pyexecd.yaml.5", "zsh/site-functions/_pyexecd",
            "bash-completion/completions/pyexecd", "fish/vendor_completions.d/pyexecd.fish"} <= shared


def test_the_sdist_has_what_is_committed_and_nothing_else(wheel):
    sdist = wheel.parent / f"pyexecd-{VERSION}.tar.gz"
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"PKG-INFO", "LICENSE", "pyproject.toml", "python/pyexecd/py.typed"} <= names
    assert not [name for name in names if name.startswith((".git/", ".deps", "build", "dist"))]


@pytest.fixture(scope="module")
def venv(wheel, tmp_path_factory):
    """A virtual environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([PYTHON, "-m", "venv", folder], check=True, timeout=300)
    done = subprocess.run([folder / "bin/pip", "install", "--quiet", "--no-index",
                           "--disable-pip-version-check", wheel],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done
    return folder


def run_in(home, program, *arguments, **environment):
    done = installed.run(program, *arguments, home=home, **environment)
    assert done.returncode == 0, done
    return done.stdout


def test_program_and_package_say_one_version(venv, tmp_path):
    package = "import pyexecd; print(pyexecd.__version__)"
    assert run_in(tmp_path, venv / "bin/python", "-c", package) == f"{VERSION}\n"
    assert VERSION in run_in(tmp_path, venv / "bin/pyexecd", "--version")


def test_one_program_is_on_path(wheel):
    with zipfile.ZipFile(wheel) as archive:
        on_path = {name.partition(".data/scripts/")[2] for name in archive.namelist()}
    assert on_path - {""} == {"pyexecd"}


def test_a_script_runs(venv, tmp_path):
    assert run_in(tmp_path, venv / "bin/pyexecd", "run", "-c", "print(6 * 7)") == "42\n"


def test_a_call_of_a_model_is_answered(venv, tmp_path):
    call = {"type": "tool_use", "id": "toolu_1", "name": "run_python",
            "input": {"code": "print(6 * 7)"}}
    done = subprocess.run([venv / "bin/pyexecd", "call"], input=json.dumps(call),
                          capture_output=True, text=True, timeout=180, cwd=tmp_path,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    assert done.returncode == 0, done
    assert "42" in done.stdout, done


def test_a_client_lists_and_calls_the_tool(venv, tmp_path):
    seen = json.loads(run_in(tmp_path, installed.python("mcp"), CLIENT, venv / "bin/pyexecd",
                             "auto").splitlines()[-1])
    assert seen["works"]["structuredContent"]["stdout"] == "42\n"
    assert "ZeroDivisionError" in seen["fails"]["content"][0]["text"]


def test_its_own_environment_is_not_that_of_scripts(venv, tmp_path):
    """Also where that comes first on PATH, as under uvx; unless a user has activated it."""
    path = f"{venv}/bin:/usr/local/bin:/usr/bin:/bin"
    command = [venv / "bin/pyexecd", "run", "-c", PREFIX]
    assert run_in(tmp_path, *command, PATH=path) != f"{venv}\n"
    assert run_in(tmp_path, *command, PATH=path, VIRTUAL_ENV=str(venv)) == f"{venv}\n"
    assert run_in(tmp_path, *command, PATH=f"{venv}/bin") == f"{venv}\n"


def test_uvx_runs_it(wheel, tmp_path):
    uvx = installed.DEPS / "tools/bin/uvx"
    if not uvx.exists():
        pytest.skip("no uvx: ./dev deps installs it")
    printed = run_in(tmp_path, uvx, "--offline", "--python", PYTHON, "--from", wheel, "pyexecd",
                     "run", "-c", f"{PREFIX}; print(6 * 7)")
    prefix, answer = printed.splitlines()
    assert (str(tmp_path) in prefix, answer) == (False, "42")


def test_taking_it_out_leaves_nothing(wheel, tmp_path):
    folder = tmp_path / "venv"
    subprocess.run([PYTHON, "-m", "venv", folder], check=True, timeout=300)
    before = {path.name for path in (folder / "bin").iterdir()}
    for command in (["install", "--no-index", wheel], ["uninstall", "--yes", "pyexecd"]):
        subprocess.run([folder / "bin/pip", *command], check=True, capture_output=True,
                       timeout=300)
    assert {path.name for path in (folder / "bin").iterdir()} == before
    assert not list(folder.rglob("*pyexecd*"))
