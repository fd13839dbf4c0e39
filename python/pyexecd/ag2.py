"""AG2's tool for Python and its environments (AG2 0.9 to 0.14), whose code runs in pyexecd.

    from pyexecd.ag2 import PythonCodeExecutionTool, SystemPythonEnvironment, WorkingDirectory

in place of AG2's own imports is all that a program changes. The tool has AG2's name, `python_execute_code`, and
its arguments; a model reads text, not the repr of a dictionary. With AG2 1.x, `agent_tool()` is the same tool for
`Agent(tools=[...])`. docs/autogen.md has every parameter, and the differences.

Each environment takes one more argument, `settings`: keys of the environment (docs/configuration.md) that replace
what the other parameters say. `settings={"network": False, "require": "sandbox"}` hardens an environment of this
machine, `settings={"network": "none"}` a container.
"""

import asyncio
import contextlib
import contextvars
import os
import pathlib
import sys
import tempfile
import typing
import warnings

from pydantic import BaseModel, Field

from . import writable
from .errors import ConfigurationError, PyexecdError
from .place import Place, making
from .removal import remove_tree
from .results import Result

__all__ = ["DockerPythonEnvironment", "PythonCodeExecutionTool", "PythonEnvironment", "SystemPythonEnvironment",
           "VenvPythonEnvironment", "WorkingDirectory", "agent_tool"]

# Seconds of a call that names none, as in AG2, and of the empty script that shows whether an environment works.
# Preparing it has a time limit of its own.
DEFAULT_TIMEOUT = 30

Directory = typing.Union[str, "os.PathLike[str]"]
Settings = typing.Optional[typing.Mapping[str, typing.Any]]

DESCRIPTION = "Executes Python code and returns the result: what it prints, its exit code and the files it makes."


class WorkingDirectory:
    """A directory that code runs in and that stays. As a context manager it is the current directory of the
    program, as well, and the one that tools take when they are given none."""

    _current: "contextvars.ContextVar[typing.Optional[WorkingDirectory]]" = contextvars.ContextVar(
        "pyexecd_working_directory", default=None)

    def __init__(self, path: Directory) -> None:
        self.path = path
        self.absolute = pathlib.Path(path).absolute()
        self.original_path: typing.Optional[str] = None
        self.created_tmp = False
        self._token: typing.Optional["contextvars.Token[typing.Optional[WorkingDirectory]]"] = None

    def __enter__(self) -> "WorkingDirectory":
        self.original_path = os.getcwd()
        self.absolute.mkdir(parents=True, exist_ok=True)
        os.chdir(self.absolute)
        self._token = self._current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token and self.original_path
        self._current.reset(self._token)
        os.chdir(self.original_path)
        if self.created_tmp:
            remove_tree(self.absolute)

    @classmethod
    def create_tmp(cls) -> "WorkingDirectory":
        """A temporary directory, which is removed at the end of its `with`."""
        made = cls(tempfile.mkdtemp(prefix="ag2_work_dir_"))
        made.created_tmp = True
        return made

    @classmethod
    def get_current_working_directory(
            cls, working_directory: "typing.Optional[WorkingDirectory]" = None,
    ) -> "typing.Optional[WorkingDirectory]":
        """WORKING_DIRECTORY, else that of the enclosing `with`, else None."""
        return working_directory or cls._current.get()


Environment = typing.TypeVar("Environment", bound="PythonEnvironment")


class PythonEnvironment:
    """What the environments have in common. It is usable as soon as it is made, and ends with its `with`, with
    close(), or with the program. Raises RuntimeError if it cannot be prepared."""

    _current: "contextvars.ContextVar[typing.Optional[PythonEnvironment]]" = contextvars.ContextVar(
        "pyexecd_python_environment", default=None)
    # Whether there is something to prepare that is worth an error when the object is made, as in AG2.
    PREPARED = True

    def __init__(self, definition: typing.Mapping[str, typing.Any], settings: Settings) -> None:
        self._definition: dict[str, typing.Any] = {**definition, **(settings or {})}
        self._places: dict[str, Place] = {}
        self._token: typing.Optional["contextvars.Token[typing.Optional[PythonEnvironment]]"] = None
        if self.PREPARED:
            self._prepare()

    def _prepare(self) -> None:
        try:
            with contextlib.closing(self._new_place(None)) as place:
                result = place.run_code("").result()
        except ConfigurationError:
            raise
        except PyexecdError as error:
            raise RuntimeError(str(error)) from error
        if result.is_error:
            raise RuntimeError(result.text)

    def check(self, directory: pathlib.Path) -> None:
        """Raises ConfigurationError if the server does not accept what this environment and DIRECTORY say. Nothing is
        left running: the program may fork before its first call."""
        with contextlib.closing(self._new_place(directory if directory.is_dir() else None)) as place:
            place.start().result()

    def _new_place(self, directory: typing.Optional[pathlib.Path]) -> Place:
        writable.check_python(self._definition)
        return Place(self._definition, directory, DEFAULT_TIMEOUT)

    def __enter__(self: Environment) -> Environment:
        self._token = self._current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token
        self._current.reset(self._token)
        self.close()

    def close(self) -> None:
        """Ends what is running. A later call starts anew."""
        while self._places:
            _, place = self._places.popitem()
            place.close()

    def _place(self, directory: pathlib.Path) -> Place:
        """Each has a server: those whose directory is gone are closed."""
        for gone in [path for path in list(self._places) if not os.path.isdir(path)]:
            if place := self._places.pop(gone, None):
                place.close()
        path = str(directory)
        with making:
            if path not in self._places:
                directory.mkdir(parents=True, exist_ok=True)
                self._places[path] = self._new_place(directory)
            return self._places[path]

    async def run(self, code: str, directory: Directory, timeout: float) -> Result:
        """Runs CODE in DIRECTORY for at most TIMEOUT seconds; the result as pyexecd.AsyncClient has it."""
        place = self._place(pathlib.Path(directory).absolute())
        return await asyncio.wrap_future(place.run_code(code, timeout))

    async def execute_code(self, code: str, script_path: str,
                           timeout: float = DEFAULT_TIMEOUT) -> dict[str, typing.Any]:
        """As AG2's method, in the directory of SCRIPT_PATH: a dictionary with the keys success, stdout, stderr,
        returncode (None if nothing was run) and, where something went wrong beside the code, error."""
        result = await self.run(code, os.path.dirname(script_path) or ".", timeout)
        ended: typing.Mapping[str, typing.Any] = result.structured or {"success": False, "error": result.text}
        told = {key: ended.get(key) for key in ("success", "stdout", "stderr", "returncode")}
        return {**told, **({"error": ended["error"]} if ended.get("error") else {})}

    @classmethod
    def get_current_python_environment(
            cls, python_environment: "typing.Optional[PythonEnvironment]" = None,
    ) -> "typing.Optional[PythonEnvironment]":
        """PYTHON_ENVIRONMENT, else that of the enclosing `with`, else None."""
        return python_environment or cls._current.get()


class SystemPythonEnvironment(PythonEnvironment):
    """A Python of this machine: EXECUTABLE, or the one that the program itself runs in."""

    PREPARED = False

    def __init__(self, executable: typing.Optional[str] = None, *, settings: Settings = None) -> None:
        self._executable = executable or sys.executable
        if not os.path.exists(self._executable):
            raise RuntimeError(f"Python executable not found at: {self._executable}")
        super().__init__({"type": "system", "executable": os.path.abspath(self._executable), "network": True},
                         settings)

    def get_executable(self) -> str:
        """The path of the interpreter."""
        return self._executable


class VenvPythonEnvironment(PythonEnvironment):
    """A virtual environment: the one at VENV_PATH, which is made if it is missing, from PYTHON_PATH or from a
    Python of PYTHON_VERSION; without venv_path one that pyexecd keeps."""

    def __init__(self, python_version: typing.Optional[str] = None, python_path: typing.Optional[Directory] = None,
                 venv_path: typing.Optional[Directory] = None, *, settings: Settings = None) -> None:
        self.python_version = python_version
        self.python_path = python_path
        self.venv_path = venv_path
        definition = {"type": "venv", "network": True, "python_path": absolute(python_path),
                      "python_version": python_version, "venv_path": absolute(venv_path)}
        if python_path is None and python_version is None:
            definition["python_path"] = sys.executable
        super().__init__({key: value for key, value in definition.items() if value is not None}, settings)

    def get_executable(self) -> str:
        """The path of the interpreter. Raises RuntimeError where pyexecd keeps the venv."""
        if self.venv_path is None:
            raise RuntimeError("the venv is pyexecd's; sys.executable of the code has its path")
        return os.path.join(os.fspath(self.venv_path), "bin", "python")


class DockerPythonEnvironment(PythonEnvironment):
    """A container, one for this object. The parameters are AG2's; docs/autogen.md says of each what it does here."""

    def __init__(self, image: str = "python:3.11-slim", container_name_prefix: str = "ag2_docker_env_",
                 volumes: typing.Optional[typing.Mapping[str, str]] = None,
                 environment: typing.Optional[typing.Mapping[str, str]] = None, network: typing.Optional[str] = None,
                 pip_packages: typing.Optional[typing.Sequence[str]] = None,
                 requirements_file: typing.Optional[Directory] = None, dockerfile: typing.Optional[Directory] = None,
                 build_args: typing.Optional[typing.Mapping[str, str]] = None, cleanup_container: bool = True,
                 keep_container_running: bool = False, container_startup_timeout: float = 30, *,
                 settings: Settings = None) -> None:
        if keep_container_running:
            warnings.warn("keep_container_running has no effect: a container ends with its environment", stacklevel=2)
        definition = {
            "type": "docker", "container_name_prefix": container_name_prefix, "network": network or "bridge",
            "keep_container_running": True, "cleanup_container": cleanup_container,
            "container_startup_timeout": container_startup_timeout, "environment": environment,
            "volumes": {path: {"path": inner, "mode": "rw"} for path, inner in (volumes or {}).items()},
            "pip_packages": pip_packages, "requirements_file": absolute(requirements_file),
            "image": None if dockerfile else image, "dockerfile": absolute(dockerfile),
            "build_args": build_args if dockerfile else None}
        super().__init__({key: value for key, value in definition.items() if value}, settings)

    def get_executable(self) -> str:
        """The name of the interpreter in the container."""
        return "python"


def absolute(path: typing.Optional[Directory]) -> typing.Optional[str]:
    return None if path is None else os.path.abspath(path)


class CodeExecutionRequest(BaseModel):
    code: typing.Annotated[str, Field(description="Python code to execute")]
    libraries: typing.Annotated[list[str], Field(
        default_factory=list, description="Not installed: the packages are those of the environment")]


class Tool:
    """What a tool runs its code with. Raises AssertionError without a directory or an environment, and
    ConfigurationError if these cannot be used: an error of a call would only be read by the model."""

    def __init__(self, timeout: float, working_directory: typing.Optional[WorkingDirectory],
                 python_environment: typing.Optional[PythonEnvironment]) -> None:
        directory = WorkingDirectory.get_current_working_directory(working_directory)
        environment = PythonEnvironment.get_current_python_environment(python_environment)
        assert directory, "No Working directory found"
        assert environment, "No Python environment found"
        self.timeout = timeout
        self.working_directory = directory
        self.python_environment = environment
        environment.check(directory.absolute)

    async def run(self, code: str) -> str:
        """Runs CODE; the text that a model reads."""
        return (await self.python_environment.run(code, self.working_directory.absolute, self.timeout)).text


def agent_tool(*, timeout: float = DEFAULT_TIMEOUT, working_directory: typing.Optional[WorkingDirectory] = None,
               python_environment: typing.Optional[PythonEnvironment] = None) -> typing.Any:
    """The tool for AG2 1.x: `Agent(tools=[agent_tool(...)])`. The parameters are those of PythonCodeExecutionTool;
    its only argument is `code`."""
    from ag2.tools import tool

    held = Tool(timeout, working_directory, python_environment)

    async def python_execute_code(code: typing.Annotated[str, Field(description="Python code to execute")]) -> str:
        return await held.run(code)

    return tool(python_execute_code, description=DESCRIPTION)


def __getattr__(name: str) -> typing.Any:
    """PythonCodeExecutionTool, where the program has an AG2 with such tools: 1.x has none, and no `autogen`."""
    if name != "PythonCodeExecutionTool":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .ag2_tool import PythonCodeExecutionTool

    return PythonCodeExecutionTool
