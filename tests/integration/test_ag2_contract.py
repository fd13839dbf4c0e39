"""AG2's SystemPythonEnvironment: what it documents, and what it loses."""

import ag2_rows
import box
import pytest

PYTHON = "/usr/bin/python3"


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
