"""Packages that were installed into the operator's venv try to take part in the next installation there, which has a network
and passwords; and packages that are built try to read these."""

import json
import os
import pathlib
import shutil
import subprocess

import client
import plain_user
import pytest
import wheels

PYTHON = "/usr/bin/python3"
ROOT = pathlib.Path(__file__).resolve().parents[2]
UV = ROOT / ".deps" / "tools" / "bin" / "uv"
TIMEOUT = 300  # seconds: pip starts slowly on a busy machine
SECRET = "correct-horse-battery"

# An installer alone can write in the venv, so what stands there was written in an installer.
SPY = "import os, sys; [open(place + '/told', 'a').write({what!r} + chr(10)) for place in (sys.prefix, {venv!r}) " \
      "if os.access(place, os.W_OK)]\n"
PROGRAM = "#!/bin/sh\necho {what} >>{venv}/told\nexit 1\n"


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    plain_user.become(monkeypatch, tmp_path)
    (tmp_path / "packages").mkdir()


@pytest.fixture(params=["pip", "uv"])
def installer(request, tmp_path, monkeypatch):
    if request.param == "uv":
        if not UV.exists():
            pytest.skip("no uv here")
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "uv").symlink_to(UV.resolve())
        monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    return request.param


@pytest.fixture
def index(tmp_path):
    with wheels.Index(tmp_path / "packages") as index:
        yield index


@pytest.fixture
def venv(tmp_path):
    """The operator's, with everything in it that `python -m venv` brings."""
    subprocess.run([PYTHON, "-m", "venv", tmp_path / "venv"], check=True)
    return tmp_path / "venv"


def run(venv, code, *packages, **more):
    """The result of CODE in VENV, into which PACKAGES are installed."""
    definition = {"type": "venv", "isolation": "sandbox", "venv_path": str(venv), "pip_packages": list(packages), **more}
    with client.Server(config={"environments": {"held": definition}, "default_environment": "held"}) as server:
        server.initialize()
        return server.call_tool("run_python", {"code": code}, timeout=TIMEOUT)["structuredContent"]


def output(venv, code, *packages, **more):
    result = run(venv, code, *packages, **more)
    assert result["success"], result
    return result["stdout"]


def plants(venv):
    """The files of a package that would like to run in an installer, by the ways that there are."""
    def spy(what):
        return SPY.format(venv=str(venv), what=what)
    data = "hostile-1.0.data"
    modules = {"hostile.py": "", "hostile.pth": spy(".pth"), "sitecustomize.py": spy("sitecustomize"),
               "usercustomize.py": spy("usercustomize"), f"{data}/data/pyexecd.json": "{}"}
    for name in ("keyring", "setuptools", "distutils_hack", "simplejson", "brotli", "OpenSSL", "socks", "truststore",
                 "tomllib", "site", "runpy", "zipfile", "pkg_resources", "_manylinux"):
        modules[f"{name}.py"] = spy(name)
    # pip's own pkg_resources imports what is declared as a namespace.
    modules |= {"xml/__init__.py": spy("a namespace"), "hostile-1.0.dist-info/namespace_packages.txt": "xml\n"}
    for name in ("pip", "uv", "git", "keyring", "env", "sh", "cc"):
        modules[f"{data}/scripts/{name}"] = PROGRAM.format(venv=venv, what=name)
    return modules


def test_packages_of_a_venv_run_in_no_later_installer(tmp_path, monkeypatch, venv, index, installer):
    monkeypatch.setenv("PATH", f"{venv}/bin:{os.environ['PATH']}")  # as in a terminal where it is active
    wheels.wheel(tmp_path / "packages", "hostile", modules=plants(venv))
    wheels.wheel(tmp_path / "packages", "gadget")
    assert output(venv, "print(1)", "hostile", pip_index_url=index.url) == "1\n"
    result = run(venv, "import gadget; print(gadget.VERSION)", "gadget", pip_index_url=index.url)
    assert not (venv / "told").exists(), (venv / "told").read_text()
    assert result["stdout"] == "1.0\n", result


def test_a_pip_that_a_package_has_brought_installs_nothing(tmp_path, venv, index):
    wheels.wheel(tmp_path / "packages", "gadget")
    wheels.wheel(tmp_path / "packages", "pip", "99",
                 modules={f"pip/{name}.py": SPY.format(venv=str(venv), what=name) for name in ("__init__", "__main__")})
    assert output(venv, "print(1)", "pip==99", pip_index_url=index.url) == "1\n"
    assert output(venv, "import gadget; print(gadget.VERSION)", "gadget", pip_index_url=index.url) == "1.0\n"
    assert not (venv / "told").exists(), (venv / "told").read_text()


def test_a_package_runs_in_no_installer_that_brings_it(tmp_path, index, installer):
    """uv compiles what it has installed in a Python."""
    venv = tmp_path / "new"
    wheels.wheel(tmp_path / "packages", "hostile", modules=plants(venv))
    assert output(venv, "print(1)", "hostile", pip_index_url=index.url) == "1\n"
    assert not (venv / "told").exists(), (venv / "told").read_text()


@pytest.mark.parametrize("name", ["python", "python3"])
def test_a_python_that_a_package_has_brought_does_not_stay(tmp_path, venv, index, name):
    wheels.wheel(tmp_path / "packages", "gadget")
    script = PROGRAM.format(venv=venv, what=name)
    wheels.wheel(tmp_path / "packages", "hostile",
                 modules={"hostile.py": "", f"hostile-1.0.data/scripts/{name}": script})
    result = run(venv, "print(1)", "hostile", pip_index_url=index.url)
    assert f"brings a bin/{name} of its own" in result["error"], result
    assert not (venv / "bin" / "python").exists()
    result = run(venv, "print(1)", "gadget", pip_index_url=index.url)
    assert "holds no virtual environment" in result["error"], result
    assert not (venv / "told").exists(), (venv / "told").read_text()


def test_a_python_that_lies_in_the_venv_installs_nothing(tmp_path, venv, index):
    """As in a venv of `python -m venv --copies`: an installation can have changed it."""
    wheels.wheel(tmp_path / "packages", "gadget")
    python = venv / "bin" / "python"
    python.unlink()
    python.write_text(f"#!/bin/sh\necho python >>{venv}/told\nexec {PYTHON} \"$@\"\n")
    python.chmod(0o755)
    code = f"import glob; print(glob.glob({str(venv)!r} + '/lib/python3*/site-packages/gadget.py') != [])"
    result = run(venv, code, "gadget", pip_index_url=index.url)
    assert not (venv / "told").exists(), (venv / "told").read_text()
    assert result["stdout"] == "True\n", result


def test_a_record_in_the_venv_is_not_believed(tmp_path, venv, index):
    """It says which directories a sandbox shows."""
    wheels.wheel(tmp_path / "packages", "gadget")
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "secret").write_text(SECRET)
    code = f"import os; print(os.path.exists({str(hidden)!r} + '/secret'))"
    assert output(venv, code, "gadget", pip_index_url=index.url) == "False\n"
    status = (venv / "bin" / "python").stat()
    file = [status.st_dev, status.st_ino, status.st_mtime_ns // 10**9, status.st_mtime_ns % 10**9, status.st_size]
    record = json.loads((venv / "pyexecd.json").read_text())
    forged = {**record, "format": 1, "version": "3.11.2", "executable": str(venv / "bin" / "python"),
              "executable_file": file, "directories": [str(hidden)]}
    (venv / "pyexecd.json").write_text(json.dumps(forged))
    assert output(venv, code, "gadget", pip_index_url=index.url) == "False\n"
    assert output(venv, code) == "False\n"


def test_a_venv_that_is_made_anew_gets_its_packages_anew(tmp_path, venv, index):
    wheels.wheel(tmp_path / "packages", "gadget")
    code = "import gadget; print(gadget.VERSION)"
    assert output(venv, code, "gadget", pip_index_url=index.url) == "1.0\n"
    shutil.rmtree(venv)
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", venv], check=True)
    assert output(venv, code, "gadget", pip_index_url=index.url) == "1.0\n"


def test_a_package_is_updated_and_its_programs_are_of_the_venv(tmp_path, venv, index, installer):
    main = {"modules": {"gadget.py": "def main():\n    import sys\n    print(sys.prefix)\n"},
            "programs": {"gad": "gadget:main"}}
    wheels.wheel(tmp_path / "packages", "gadget", "1.0", **main)
    wheels.wheel(tmp_path / "packages", "gadget", "2.0", **main)
    wheels.wheel(tmp_path / "packages", "widget", requires=["gadget"])
    code = "import importlib.metadata, subprocess, sys\n" \
           "subprocess.run([sys.prefix + '/bin/gad'], check=True)\n" \
           "print(importlib.metadata.version('gadget'))"
    for packages, version in ((["gadget==1.0"], "1.0"), (["widget"], "1.0"), (["gadget>=2"], "2.0")):
        assert output(venv, code, *packages, pip_index_url=index.url) == f"{venv}\n{version}\n"
    assert len(list(venv.rglob("gadget-*.dist-info"))) == 1


# What the build of a package can read is told in its metadata.
LOOKS = """exec('''
import os, pathlib
found = []
for path in {paths!r}:
    try:
        found.append(pathlib.Path(path).read_text())
    except OSError:
        pass
for each in os.listdir("/proc"):
    try:
        found.append(pathlib.Path("/proc", each, "environ").read_text(errors="replace"))
    except OSError:
        pass
METADATA += "Summary: " + ("sees it" if {secret!r} in "".join(found) else "sees nothing") + chr(10)
''', globals())"""
TELL = "from importlib.metadata import metadata; print(metadata('hostile')['Summary'])"


def with_looking_build(folder, *paths):
    wheels.sdist(folder / "packages", "hostile", build=LOOKS.format(paths=[str(path) for path in paths], secret=SECRET))


def test_settings_that_a_package_has_brought_do_not_count(tmp_path, venv, index, installer, monkeypatch):
    monkeypatch.delenv("PIP_CONFIG_FILE")  # pip reads all or none
    settings = "[install]\nrequirement = /nowhere\n[global]\nno-index = true\n"
    modules = {"hostile.py": ""} | {f"hostile-1.0.data/data/{name}": settings for name in ("pip.conf", "pip.ini", "uv.toml")}
    wheels.wheel(tmp_path / "packages", "hostile", modules=modules)
    wheels.wheel(tmp_path / "packages", "gadget")
    output(venv, "pass", "hostile", pip_index_url=index.url)
    assert (venv / "pip.conf").exists()
    assert output(venv, "import gadget; print(gadget.VERSION)", "hostile", "gadget", pip_index_url=index.url) == "1.0\n"


def test_a_build_reads_no_netrc(tmp_path, index, installer):
    netrc = tmp_path / "home" / ".netrc"
    netrc.write_text(f"machine 127.0.0.1 login name password {SECRET}\n")
    with_looking_build(tmp_path, netrc)
    assert output(tmp_path / "new", TELL, "hostile", pip_index_url=index.url, allow_source_builds=True) == "sees nothing\n"


def test_a_build_does_not_begin_where_a_variable_has_a_password(tmp_path, monkeypatch, index, installer):
    with_looking_build(tmp_path)
    monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("://", f"://name:{SECRET}@"))
    result = run(tmp_path / "new", TELL, "hostile", allow_source_builds=True)
    assert "the password in " in result["error"] and "is not shown to code of packages" in result["error"], result
    assert SECRET not in str(result)


def test_a_build_does_not_begin_where_settings_have_a_password(tmp_path, monkeypatch, index):
    settings = tmp_path / "home" / ".config" / "pip" / "pip.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[global]\nindex_url = {index.url.replace('://', f'://name:{SECRET}@')}\n")
    monkeypatch.delenv("PIP_CONFIG_FILE")
    with_looking_build(tmp_path, settings)
    result = run(tmp_path / "new", TELL, "hostile", allow_source_builds=True)
    assert f"the password in {settings} is not shown to code of packages" in result["error"], result
    wheels.wheel(tmp_path / "packages", "gadget")
    assert output(tmp_path / "other", "import gadget; print(gadget.VERSION)", "gadget") == "1.0\n"


def test_a_build_leads_the_server_nowhere(tmp_path, venv, index):
    """It can put a link where the server looks for the Python, to a Python of somebody else."""
    others = tmp_path / "others"
    others.mkdir()
    (others / "python").write_text("as it was")
    links = f"import os; os.rename({str(venv / 'bin')!r}, {str(venv / 'old')!r}); " \
            f"os.symlink({str(others)!r}, {str(venv / 'bin')!r})"
    wheels.sdist(tmp_path / "packages", "hostile", build=links)
    result = run(venv, "print(1)", "hostile", pip_index_url=index.url, allow_source_builds=True)
    assert "brings a bin/python of its own" in result["error"], result
    assert not (venv / "bin").exists()
    assert (others / "python").read_text() == "as it was"


def test_a_build_shows_scripts_no_directory_outside(tmp_path, venv, index):
    """A part of a venv that leads elsewhere is not shown."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "secret").write_text(SECRET)
    links = f"import os; os.rename({str(venv / 'include')!r}, {str(venv / 'old')!r}); " \
            f"os.symlink({str(hidden)!r}, {str(venv / 'include')!r})"
    wheels.sdist(tmp_path / "packages", "hostile", build=links)
    look = f"import os; print(os.path.exists({str(hidden / 'secret')!r}))"
    assert output(venv, look, "hostile", pip_index_url=index.url, allow_source_builds=True) == "False\n"
    assert (venv / "include").is_symlink()


def test_a_package_brings_no_paths_of_a_python(tmp_path, venv, index):
    modules = {"hostile.py": "", "hostile-1.0.data/scripts/python._pth": f"{tmp_path}\nimport site\n"}
    wheels.wheel(tmp_path / "packages", "hostile", modules=modules)
    result = run(venv, "print(1)", "hostile", pip_index_url=index.url)
    assert "brings a bin/python._pth of its own" in result["error"], result


def test_a_file_that_a_killed_server_left_hinders_no_installation(tmp_path, venv, index, installer):
    wheels.wheel(tmp_path / "packages", "gadget", programs={"gad": "gadget:main"})
    (venv / "bin" / ".gad.next").write_text("half")
    assert output(venv, "import gadget; print(gadget.VERSION)", "gadget", pip_index_url=index.url) == "1.0\n"
    assert not (venv / "bin" / ".gad.next").exists()
