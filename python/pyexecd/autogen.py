"""AutoGen's code executors (autogen-core and autogen-ext 0.4 to 0.7), whose code runs in pyexecd.

    from pyexecd.autogen import LocalCommandLineCodeExecutor

in place of `from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor` is all that a program
changes: parameters, methods and results are AutoGen's. docs/autogen.md has every parameter, and the differences.

Each executor takes one more argument, `settings`: keys of its environment (docs/configuration.md) that replace
what the other parameters say. `settings={"network": False, "require": "sandbox"}` hardens an executor of this
machine, `settings={"network": "none"}` one with containers.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import pathlib
import sys
import tempfile
import uuid
import warnings
import weakref
from types import SimpleNamespace
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Sequence, Union

from autogen_core import CancellationToken, Component
from autogen_core.code_executor import CodeBlock, CodeExecutor, CodeResult
from pydantic import BaseModel

from . import blocks, containers, functions
from .autogen_jupyter import (DockerJupyterCodeExecutor, DockerJupyterCodeResult, DockerJupyterServer,
                              JupyterCodeExecutor, JupyterCodeResult)
from .place import Place, remove_file, write_file
from .removal import remove_tree

__all__ = ["CommandLineCodeResult", "DockerCommandLineCodeExecutor", "DockerJupyterCodeExecutor",
           "DockerJupyterCodeResult", "DockerJupyterServer", "JupyterCodeExecutor", "JupyterCodeResult",
           "LocalCommandLineCodeExecutor"]

Directory = Union[pathlib.Path, str]
Settings = Optional[Mapping[str, Any]]

LEAST_TIMEOUT = "Timeout must be greater than or equal to 1."


@dataclasses.dataclass
class CommandLineCodeResult(CodeResult):
    """`code_file` is the file of the first block, which may have been deleted."""

    code_file: str | None


class WorkDirectory:
    """The directory of an executor: the program's own, or a temporary one that ends with the executor."""

    def __init__(self, path: Optional[Directory], parents: bool) -> None:
        self._temporary: Optional[str] = None
        self._end: Optional[weakref.finalize[[str], WorkDirectory]] = None
        self.given = None if path is None else pathlib.Path(path)
        if self.given is not None:
            if self.given.resolve() == pathlib.Path.cwd().resolve():
                warnings.warn("Using the current directory as work_dir is deprecated.", DeprecationWarning,
                              stacklevel=4)
            self.given.mkdir(exist_ok=True, parents=parents)

    @property
    def path(self) -> pathlib.Path:
        if self.given is not None:
            return self.given
        if self._temporary is None:
            self._temporary = tempfile.mkdtemp()
            self._end = weakref.finalize(self, remove_tree, self._temporary)
        return pathlib.Path(self._temporary)

    def end(self) -> None:
        if self._end is not None:
            self._end()
            self._temporary = self._end = None


class CommandLineExecutor(CodeExecutor):
    """What the executors have in common that run each block in a fresh process."""

    SUPPORTED_LANGUAGES: ClassVar[List[str]] = ["bash", "shell", "sh", "python"]
    FUNCTION_PROMPT_TEMPLATE: ClassVar[str] = functions.PROMPT
    CANCELLED = ("\nCancelled", 125)

    def __init__(self, timeout: int, directory: WorkDirectory, program_functions: Sequence[Any], functions_module: str,
                 keep_files: bool, settings: Settings) -> None:
        if not functions_module.isidentifier():
            raise ValueError("Module name must be a valid Python identifier")
        self._timeout = timeout
        self._directory = directory
        self._functions = list(program_functions)
        self._functions_module = functions_module
        self._functions_loaded = not self._functions
        self._keep_files = keep_files
        self._settings: Dict[str, Any] = dict(settings or {})
        self._place: Optional[Place] = None

    def format_functions_for_prompt(self, prompt_template: str = FUNCTION_PROMPT_TEMPLATE) -> str:
        """What a model is told of the functions; `$module_name` and `$functions` stand for them."""
        return functions.prompt(self._functions, self._functions_module, prompt_template)

    @property
    def timeout(self) -> int:
        """Seconds that each block may take."""
        return self._timeout

    @property
    def work_dir(self) -> pathlib.Path:
        """The directory that blocks run in."""
        return self._directory.path

    @property
    def functions_module(self) -> str:
        """The module from which code imports the functions."""
        return self._functions_module

    def _environment(self) -> Dict[str, Any]:
        """The keys of the environment, without those of the settings."""
        raise NotImplementedError

    def _started_place(self) -> Place:
        if self._place is None:
            environment = {**self._environment(), **self._settings}
            self._place = Place(environment, self.work_dir, self._timeout)
        return self._place

    async def _close(self) -> None:
        """Ends the server, and then removes what it runs code as: before that it would have to be made anew
        for each block, which takes ten times as long."""
        if self._place is not None:
            place, self._place = self._place, None
            await asyncio.get_running_loop().run_in_executor(None, place.close)
            with contextlib.suppress(OSError):  # a script can have put anything there
                remove_file(place.directory / "script.py")

    async def execute_code_blocks(self, code_blocks: List[CodeBlock],
                                  cancellation_token: CancellationToken) -> CommandLineCodeResult:
        """Runs CODE_BLOCKS in order, up to the first that fails. Raises ValueError if the functions of the
        program cannot be loaded."""
        if not self._functions_loaded:
            await self._load_functions(cancellation_token)
        return await self._execute(code_blocks, cancellation_token)

    async def _load_functions(self, cancellation_token: CancellationToken) -> None:
        code = functions.source(self._functions)
        write_file(self._started_place().directory / f"{self._functions_module}.py", code)
        loaded = await self._run("python", code, cancellation_token)
        if loaded.exit_code != 0:
            raise ValueError(f"Functions failed to load: {loaded.output}")
        self._functions_loaded = True

    async def _execute(self, code_blocks: List[CodeBlock],
                       cancellation_token: CancellationToken) -> CommandLineCodeResult:
        output: List[str] = []
        files: List[pathlib.Path] = []
        exit_code = 0
        directory = self._started_place().directory
        for block in code_blocks:
            language = blocks.language_of(block.language)
            if language is None:
                output.append(f"\nunknown language {block.language.lower()}")
                exit_code = 1
                break
            code = blocks.quiet(language, block.code)
            ended = await self._run(language, code, cancellation_token)
            files.append(blocks.settle_file(directory, language, code, ended.file, self._keep_files))
            output.append(ended.output)
            exit_code = ended.exit_code
            if exit_code != 0:
                break
        code_file = str(files[0]) if files else None
        return CommandLineCodeResult(exit_code=exit_code, output="".join(output), code_file=code_file)

    async def _run(self, language: str, code: str, cancellation_token: CancellationToken) -> blocks.Ended:
        if not cancellation_token.is_cancelled():
            call = asyncio.wrap_future(blocks.run(self._started_place(), language, code))
            cancellation_token.link_future(call)
            try:
                return await call
            except asyncio.CancelledError:
                if not cancellation_token.is_cancelled():
                    raise
        output, exit_code = self.CANCELLED
        return blocks.Ended(exit_code, output)


class LocalConfig(BaseModel):
    """The saved form of a LocalCommandLineCodeExecutor; `settings` are saved with it."""

    timeout: int = 60
    work_dir: str | None = None
    functions_module: str = "functions"
    cleanup_temp_files: bool = True
    settings: Dict[str, Any] = {}


class LocalCommandLineCodeExecutor(CommandLineExecutor, Component[LocalConfig]):
    """Runs code blocks on this machine, in a sandbox where the machine has one.

    timeout: seconds for each block, at least 1. work_dir: made if it is missing; without it a temporary
    directory. functions: what code may import from functions_module. cleanup_temp_files: whether files of blocks
    that have named none are deleted. virtual_env_context: what venv.EnvBuilder.ensure_directories() returns.
    settings: keys of the environment. Raises ValueError for a wrong timeout or module.
    """

    component_config_schema = LocalConfig
    component_provider_override = "pyexecd.autogen.LocalCommandLineCodeExecutor"

    def __init__(self, timeout: int = 60, work_dir: Optional[Directory] = None, functions: Sequence[Any] = (),
                 functions_module: str = "functions", cleanup_temp_files: bool = True,
                 virtual_env_context: Optional[SimpleNamespace] = None, *, settings: Settings = None) -> None:
        if timeout < 1:
            raise ValueError(LEAST_TIMEOUT)
        super().__init__(timeout, WorkDirectory(work_dir, parents=False), functions, functions_module,
                         not cleanup_temp_files, settings)
        self._virtual_env_context = virtual_env_context

    @property
    def cleanup_temp_files(self) -> bool:
        """Whether files of blocks that have named none are deleted."""
        return not self._keep_files

    def _environment(self) -> Dict[str, Any]:
        if self._virtual_env_context:
            path = str(pathlib.Path(os.path.abspath(self._virtual_env_context.env_exe)).parent.parent)
            return {"type": "venv", "venv_path": path, "write": [path], "network": True}
        packages = functions.packages(self._functions)
        if packages:
            return {"type": "venv", "python_path": sys.executable, "system_site_packages": True,
                    "pip_packages": packages, "network": True}
        return {"type": "system", "executable": sys.executable, "network": True}

    async def start(self) -> None:
        """Starts the server, so that the first block does not wait for it."""
        await asyncio.wrap_future(self._started_place().start())

    async def stop(self) -> None:
        """Ends what is running, and removes the temporary directory."""
        await self._close()
        self._directory.end()

    async def restart(self) -> None:
        """There is nothing that could be started again: each block has a process of its own."""
        warnings.warn("Restarting local command line code executor is not supported. No action is taken.",
                      stacklevel=2)

    def _to_config(self) -> LocalConfig:
        return LocalConfig(timeout=self._timeout, work_dir=str(self.work_dir), settings=self._settings,
                           functions_module=self._functions_module, cleanup_temp_files=self.cleanup_temp_files)

    @classmethod
    def _from_config(cls, config: LocalConfig) -> LocalCommandLineCodeExecutor:
        return cls(**config.model_dump())


class DockerConfig(BaseModel):
    """The saved form of a DockerCommandLineCodeExecutor; `settings` are saved with it."""

    image: str = "python:3-slim"
    container_name: str | None = None
    timeout: int = 60
    work_dir: str | None = None
    bind_dir: str | None = None
    auto_remove: bool = True
    stop_container: bool = True
    functions_module: str = "functions"
    extra_volumes: dict[str, dict[str, str]] = {}
    extra_hosts: dict[str, str] = {}
    init_command: str | None = None
    delete_tmp_files: bool = False
    settings: Dict[str, Any] = {}


class DockerCommandLineCodeExecutor(CommandLineExecutor, Component[DockerConfig]):
    """Runs code blocks in one container, which is there from the first block until stop().

    The parameters are AutoGen's; docs/autogen.md says of each what it does here. container_name is the beginning
    of the container's name. device_requests: docker.types.DeviceRequest, or mappings with the same keys. Raises
    ValueError for what cannot be had: a timeout below 1, a wrong module, a bind_dir other than work_dir,
    stop_container=False.
    """

    component_config_schema = DockerConfig
    component_provider_override = "pyexecd.autogen.DockerCommandLineCodeExecutor"
    CANCELLED = ("Code execution was cancelled.", 1)

    def __init__(self, image: str = "python:3-slim", container_name: Optional[str] = None, *, timeout: int = 60,
                 work_dir: Optional[Directory] = None, bind_dir: Optional[Directory] = None, auto_remove: bool = True,
                 stop_container: bool = True, device_requests: Optional[Sequence[Any]] = None,
                 functions: Sequence[Any] = (), functions_module: str = "functions",
                 extra_volumes: Optional[Dict[str, Dict[str, str]]] = None,
                 extra_hosts: Optional[Dict[str, str]] = None, init_command: Optional[str] = None,
                 delete_tmp_files: bool = False, settings: Settings = None) -> None:
        if timeout < 1:
            raise ValueError(LEAST_TIMEOUT)
        containers.check_directory(bind_dir, work_dir)
        containers.check_end(stop_container)
        super().__init__(timeout, WorkDirectory(work_dir, parents=True), functions, functions_module,
                         not delete_tmp_files, settings)
        self.container_name = container_name or f"autogen-code-exec-{uuid.uuid4()}"
        self._image = image
        self._auto_remove = auto_remove
        self._device_requests = device_requests
        self._extra_volumes = extra_volumes or {}
        self._extra_hosts = extra_hosts or {}
        self._init_command = init_command
        self._prepared = False
        self._started = False

    @property
    def work_dir(self) -> pathlib.Path:
        """The directory that blocks run in. Raises RuntimeError where there is none yet."""
        if self._directory.given is None and not self._started:
            raise RuntimeError("Working directory not properly initialized")
        return self._directory.path

    @property
    def bind_dir(self) -> pathlib.Path:
        """The directory that the container sees as /workspace."""
        return self.work_dir

    def _environment(self) -> Dict[str, Any]:
        environment = {
            "type": "docker", "image": self._image, "keep_container_running": True, "network": "bridge",
            "container_name_prefix": f"{self.container_name}-", "cleanup_container": self._auto_remove,
            "pip_packages": functions.packages(self._functions),
            "volumes": containers.volumes(self._extra_volumes)}
        if self._extra_hosts:
            environment["extra_hosts"] = containers.hosts(self._extra_hosts)
        if self._device_requests:
            environment["gpus"] = containers.gpus(self._device_requests)
        return environment

    async def execute_code_blocks(self, code_blocks: List[CodeBlock],
                                  cancellation_token: CancellationToken) -> CommandLineCodeResult:
        """Runs CODE_BLOCKS in order, up to the first that fails. Raises ValueError without any block, before
        start() and after stop()."""
        if not self._started:
            raise ValueError("Container is not running. Must first be started with either start or a context manager.")
        if len(code_blocks) == 0:
            raise ValueError("No code blocks to execute.")
        return await super().execute_code_blocks(code_blocks, cancellation_token)

    async def _run(self, language: str, code: str, cancellation_token: CancellationToken) -> blocks.Ended:
        """A container that had to be ended at a timeout is replaced, and its successor prepared again."""
        failed = await self._initialize(cancellation_token)
        if failed:
            return failed
        ended = await super()._run(language, code, cancellation_token)
        self._prepared = self._prepared and not ended.timed_out
        return ended

    async def _initialize(self, cancellation_token: CancellationToken) -> Optional[blocks.Ended]:
        """Runs init_command in a container that is new; how it ended if it has failed."""
        if not self._init_command or self._prepared:
            return None
        ended = await super()._run("sh", self._init_command, cancellation_token)
        blocks.settle_file(self._started_place().directory, "sh", self._init_command, ended.file, keep=False)
        self._prepared = ended.exit_code == 0
        return None if self._prepared else ended

    async def start(self) -> None:
        """Starts the container, and runs init_command in it. Raises RuntimeError with the server's words if there can
        be no container. A command that fails is the result of the first blocks."""
        if self._started:
            return
        self._started = True
        try:
            await asyncio.get_running_loop().run_in_executor(None, self._started_place().prepare)
            await self._initialize(CancellationToken())
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Ends the container with all that runs in it, and then removes the temporary directory."""
        await self._close()
        self._started = self._prepared = False
        self._directory.end()

    async def restart(self) -> None:
        """The next block has a new container. Raises ValueError before start()."""
        if not self._started:
            raise ValueError("Container is not running. Must first be started with either start or a context manager.")
        self._prepared = False
        await self._close()

    def _to_config(self) -> DockerConfig:
        return DockerConfig(
            image=self._image, container_name=self.container_name, timeout=self._timeout,
            work_dir=None if self._directory.given is None else str(self._directory.given),
            auto_remove=self._auto_remove, functions_module=self._functions_module,
            extra_volumes=self._extra_volumes, extra_hosts=self._extra_hosts, init_command=self._init_command,
            delete_tmp_files=not self._keep_files, settings=self._settings)

    @classmethod
    def _from_config(cls, config: DockerConfig) -> DockerCommandLineCodeExecutor:
        return cls(**config.model_dump())
