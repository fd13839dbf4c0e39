"""AG2's SystemPythonEnvironment and VenvPythonEnvironment: what they document and what they lose."""

import os
import pathlib
import subprocess

import ag2_rows
import box
import pytest
import wheels

PYTHON = "/usr/bin/python3"
VERSION = subprocess.run([PYTHON, "-c", "import platform; print(platform.python_version())"],
                         capture_output=True, text=True, check=True).stdout.strip()
NO_INDEX = {"PIP_NO_INDEX": "1", "UV_NO_INDEX": "1"}  # only what a definition names
PREFIXES = "import sys; print(sys.prefix); print(sys.base_prefix)"


def starter(kind):
    """The fixture that starts servers whose environment has the definition KIND, with more keys."""
    @pytest.fixture
    def start(self):
        return lambda definition=None, **more: box.Box({**kind, **(definition or {})}, **more)

    return start


def error_of(server):
    """The error of a call that could not be run."""
    result = server.run("print(1)")
    assert not result["success"] and result["returncode"] is None, result
    return result["error"]


def system_python(folder, name="python"):
    """An executable in FOLDER that is the system's Python."""
    path = folder / name
    path.symlink_to(PYTHON)
    return path


def broken_python(folder):
    """Variables with which the default Python does not work."""
    (folder / "bin").mkdir()
    (folder / "bin" / "python3").write_text("#!/bin/sh\nexit 1\n")
    (folder / "bin" / "python3").chmod(0o755)
    return {"PATH": f"{folder}/bin"}


def make_venv(path):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", path], check=True)
    return path


def started(start, definition, **more):
    """A server that has been spoken to."""
    server = start(definition, **more)
    server.initialize()
    return server


class TestSystem(ag2_rows.Rows):
    start = starter({"type": "system", "executable": PYTHON})

    def test_the_executable_that_is_named_runs_the_script(self, start, tmp_path):
        executable = system_python(tmp_path)
        with started(start, {"executable": str(executable)}) as server:
            assert server.run("import sys; print(sys.executable)")["stdout"] == f"{executable}\n"

    def test_without_a_name_python3_on_the_path_runs_the_script(self, tmp_path):
        executable = system_python(tmp_path, "python3")
        with box.Box({"type": "system"}, environment={"PATH": f"{tmp_path}:/usr/bin"}) as server:
            server.initialize()
            assert server.run("import sys; print(sys.executable)")["stdout"] == f"{executable}\n"

    def test_an_executable_that_is_not_there_is_named(self, start, tmp_path):
        with started(start, {"executable": str(tmp_path / "python9")}) as server:
            assert str(tmp_path / "python9") in error_of(server)


class TestVenv(ag2_rows.Rows):
    start = starter({"type": "venv", "python_path": PYTHON})
    start_plain = starter({"type": "venv"})

    def test_a_venv_at_venv_path_is_used_as_it_is(self, start_plain, tmp_path):
        venv = make_venv(tmp_path / "venv")
        before = sorted(str(path) for path in venv.rglob("*"))
        with started(start_plain, {"venv_path": str(venv)}) as server:
            assert server.run(PREFIXES)["stdout"].splitlines()[0] == str(venv)
        assert sorted(str(path) for path in venv.rglob("*")) == before

    def test_a_venv_at_venv_path_wins_over_path_and_version(self, start_plain, tmp_path):
        venv = make_venv(tmp_path / "venv")
        definition = {"venv_path": str(venv), "python_path": "/nowhere/python",
                      "python_version": "3.99"}
        with started(start_plain, definition) as server:
            assert server.run(PREFIXES)["stdout"].splitlines()[0] == str(venv)

    def test_a_venv_is_created_at_venv_path_from_python_path(self, start_plain, tmp_path):
        """AG2 takes the Python that it runs in; here another one would not work."""
        definition = {"venv_path": str(tmp_path / "venv"), "python_path": PYTHON}
        with started(start_plain, definition, environment=broken_python(tmp_path)) as server:
            result = server.run(PREFIXES)
            assert result["stdout"] == f"{tmp_path}/venv\n/usr\n", result
        assert (tmp_path / "venv" / "pyvenv.cfg").exists()

    def test_a_venv_is_created_at_venv_path_from_python_version(self, start_plain, tmp_path):
        definition = {"venv_path": str(tmp_path / "venv"), "python_version": VERSION}
        with started(start_plain, definition, environment=broken_python(tmp_path)) as server:
            result = server.run("import platform, sys; print(platform.python_version(), sys.prefix)")
            assert result["stdout"] == f"{VERSION} {tmp_path}/venv\n", result

    def test_python_path_wins_over_python_version(self, start_plain, tmp_path):
        definition = {"python_path": PYTHON, "python_version": "3.99"}
        with started(start_plain, definition) as server:
            assert server.run(PREFIXES)["stdout"].splitlines()[1] == "/usr"

    def test_without_any_of_them_a_venv_of_the_default_python_is_made(self, start_plain):
        with started(start_plain, {}, environment={"PATH": "/usr/bin:/bin"}) as server:
            prefix, base = server.run(PREFIXES)["stdout"].splitlines()
            assert prefix.startswith(str(server.home)) and base == "/usr"

    def test_a_python_path_that_is_not_there_is_named(self, start, tmp_path):
        with started(start, {"python_path": str(tmp_path / "python9")}) as server:
            assert str(tmp_path / "python9") in error_of(server)

    def test_a_version_that_is_not_there_is_named_with_those_that_are(self, start_plain):
        with started(start_plain, {"python_version": "3.99"}) as server:
            error = error_of(server)
        assert "3.99" in error and VERSION in error

    def test_a_version_is_found_on_the_path(self, start_plain, tmp_path):
        """AG2 does not look there."""
        version = ".".join(VERSION.split(".")[:2])
        executable = system_python(tmp_path, f"python{version}")
        with started(start_plain, {"python_version": version},
                     environment={"PATH": f"{tmp_path}:/bin"}) as server:
            assert server.run("print(1)")["success"]
            venv = pathlib.Path(server.run(PREFIXES)["stdout"].splitlines()[0])
            assert str(executable) in (venv / "pyvenv.cfg").read_text() \
                or os.readlink(venv / "bin" / "python").startswith("/usr")

    def test_its_packages_are_its_own(self, start):
        """AG2 lets those of the system in."""
        with started(start, {}) as server:
            assert "ModuleNotFoundError" in server.run("import pytest")["stderr"]

    def test_packages_of_the_system_are_seen_when_that_is_asked_for(self, start):
        with started(start, {"system_site_packages": True}) as server:
            assert server.run("import pytest; print('seen')")["stdout"] == "seen\n"

    def test_packages_are_installed(self, start, tmp_path):
        wheels.wheel(tmp_path, "widget", "2.0")
        wheels.wheel(tmp_path, "gadget", "1.5", requires=["widget>=2"])
        definition = {"pip_packages": ["gadget"], "pip_find_links": str(tmp_path)}
        with started(start, definition, environment=NO_INDEX) as server:
            result = server.run("import gadget, widget; print(gadget.VERSION, widget.VERSION)")
            assert result["stdout"] == "1.5 2.0\n", result

    def test_packages_of_a_requirements_file_are_installed(self, start, tmp_path):
        wheels.wheel(tmp_path, "gadget", "1.5")
        wheels.wheel(tmp_path, "gadget", "2.5")
        (tmp_path / "requirements.txt").write_text("# ours\ngadget<2  # the old one\n")
        definition = {"requirements_file": str(tmp_path / "requirements.txt"),
                      "pip_find_links": str(tmp_path)}
        with started(start, definition, environment=NO_INDEX) as server:
            assert server.run("import gadget; print(gadget.VERSION)")["stdout"] == "1.5\n"

    def test_a_package_that_cannot_be_installed_is_an_error_not_a_warning(self, start, tmp_path):
        definition = {"pip_packages": ["no-such-gadget"], "pip_find_links": str(tmp_path)}
        with started(start, definition, environment=NO_INDEX) as server:
            assert "no-such-gadget" in error_of(server)

    def test_pip_works_in_it(self, start):
        with started(start, {}) as server:
            code = ("import subprocess, sys\n"
                    "subprocess.run([sys.executable, '-m', 'pip', '--version'], check=True)")
            result = server.run(code)
            assert result["success"] and result["stdout"].startswith("pip "), result

    def test_a_temporary_venv_is_found_again_and_not_made_again(self, start):
        """AG2 leaves one more in /tmp each time."""
        with started(start, {}) as server:
            first = server.run(PREFIXES)["stdout"]
            state = {name: server.environment[name] for name in ("XDG_STATE_HOME", "HOME")}
            with started(start, {}, environment=state) as again:
                assert again.run(PREFIXES)["stdout"] == first
            venvs = [path for path in server.files() if path.endswith("pyvenv.cfg")]
            assert len(venvs) == 1, venvs
