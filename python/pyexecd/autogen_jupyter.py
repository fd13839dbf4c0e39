"""AutoGen's executors that keep state, for pyexecd.autogen: on this machine and in a container."""

from __future__ import annotations

import asyncio
import dataclasses
import pathlib
import tempfile
import warnings
from typing import Any, Dict, List, Mapping, Optional, Union

from autogen_core import CancellationToken, Component
from autogen_core.code_executor import CodeBlock, CodeExecutor, CodeResult
from pydantic import BaseModel

from . import blocks, cells, containers
from .place import Place
from .removal import remove_tree
from .results import Result

__all__ = ["DockerJupyterCodeExecutor", "DockerJupyterCodeResult", "DockerJupyterServer", "JupyterCodeExecutor",
           "JupyterCodeResult"]

Directory = Union[pathlib.Path, str]
Settings = Optional[Mapping[str, Any]]

WORKSPACE = "/workspace"


@dataclasses.dataclass
class JupyterCodeResult(CodeResult):
    """`output_files` are the pictures and HTML files that the blocks have made or changed."""

    output_files: list[pathlib.Path]


@dataclasses.dataclass
class DockerJupyterCodeResult(JupyterCodeResult):
    """The same, of a DockerJupyterCodeExecutor."""


class SessionExecutor(CodeExecutor):
    """What the executors have in common that run blocks as the cells of one session, in DIRECTORY (None: a temporary
    one), with the keys ENVIRONMENT."""

    def __init__(self, environment: Mapping[str, Any], timeout: int, directory: Optional[Directory]) -> None:
        self._environment = environment
        self._timeout = timeout
        self._given = directory
        self._output_dir = pathlib.Path(tempfile.mkdtemp() if directory is None else directory)
        self._output_dir.mkdir(exist_ok=True, parents=True)
        self._place: Optional[Place] = None

    async def _cell(self, block: CodeBlock, cancellation_token: CancellationToken) -> Result:
        assert self._place
        language = blocks.language_of(block.language) or "python"
        call = asyncio.wrap_future(self._place.run_cell(blocks.quiet(language, block.code)))
        cancellation_token.link_future(call)
        return await call

    def _new_place(self) -> Place:
        return Place(self._environment, self._output_dir, self._timeout)

    async def start(self) -> None:
        """Begins the session, so that the first block does not wait for it. Raises RuntimeError with the server's words
        if there can be none."""
        if self._place is None:
            self._output_dir.mkdir(exist_ok=True, parents=True)
            self._place = self._new_place()
            try:
                await asyncio.get_running_loop().run_in_executor(None, self._place.begin_session)
            except BaseException:
                await self.stop()
                raise

    async def stop(self) -> None:
        """Ends the session with all that it has started, and removes the temporary directory."""
        if self._place is not None:
            place, self._place = self._place, None
            await asyncio.get_running_loop().run_in_executor(None, place.close)
        if self._given is None:
            remove_tree(self._output_dir)

    async def restart(self) -> None:
        """Ends the session and begins a new one."""
        await self.stop()
        await self.start()


class JupyterConfig(BaseModel):
    """The saved form of a JupyterCodeExecutor; `settings` are saved with it."""

    kernel_name: str = "python3"
    timeout: int = 60
    output_dir: str | None = None
    settings: Dict[str, Any] = {}


class JupyterCodeExecutor(SessionExecutor, Component[JupyterConfig]):
    """Runs code blocks as the cells of one session: what they define stays until stop() or restart().

    kernel_name: `python3`, as there is no other. timeout: seconds for each block, at least 1. output_dir: the
    directory that the cells run in, and in which they leave their files; without it a temporary one. settings:
    keys of the environment. Raises ValueError for another kernel or a wrong timeout.
    """

    component_config_schema = JupyterConfig
    component_provider_override = "pyexecd.autogen.JupyterCodeExecutor"

    def __init__(self, kernel_name: str = "python3", timeout: int = 60, output_dir: Optional[Directory] = None, *,
                 settings: Settings = None) -> None:
        cells.check(timeout, kernel_name)
        self._settings = dict(settings or {})
        super().__init__({**cells.local_environment(), **self._settings}, timeout, output_dir)

    @property
    def output_dir(self) -> pathlib.Path:
        """The directory of the cells and of their files."""
        if self._output_dir == pathlib.Path("."):
            warnings.warn("Using the current directory as output_dir is deprecated", DeprecationWarning, stacklevel=2)
        return self._output_dir

    async def execute_code_blocks(self, code_blocks: List[CodeBlock],
                                  cancellation_token: CancellationToken) -> JupyterCodeResult:
        """Runs CODE_BLOCKS in order, up to the first that fails. Raises TimeoutError, with what was printed, and
        CancelledError; the variables stay after both. Raises RuntimeError before start()."""
        if self._place is None:
            raise RuntimeError("Executor must be started before executing cells")
        outputs: List[str] = []
        files: List[pathlib.Path] = []
        exit_code = 0
        for block in code_blocks:
            result = await self._cell(block, cancellation_token)
            if result.status == "timeout":
                raise asyncio.TimeoutError(result.text)
            has_run = result.structured and result.structured["returncode"] is not None
            outputs += filter(None, [result.stdout, result.stderr] if has_run else [result.text])
            files += [pathlib.Path(path) for _, path in cells.output_files(result, self._output_dir)]
            exit_code = 1 if result.is_error else 0
            if result.is_error:
                break
        return JupyterCodeResult(exit_code=exit_code, output="\n".join(outputs), output_files=files)

    def _to_config(self) -> JupyterConfig:
        return JupyterConfig(kernel_name="python3", timeout=self._timeout, settings=self._settings,
                             output_dir=None if self._given is None else str(self._output_dir))

    @classmethod
    def _from_config(cls, config: JupyterConfig) -> JupyterCodeExecutor:
        return cls(**config.model_dump())


class DockerJupyterServer(cells.JupyterServer):
    """Where DockerJupyterCodeExecutors run: a container for each of them, which starts with it. No port is opened.

    The parameters are AutoGen's; docs/autogen.md says of each what it does here. Raises ValueError for what cannot be
    had: stop_container=False, another work_dir than /workspace.
    """

    def __init__(self, *, custom_image_name: Optional[str] = None, container_name: Optional[str] = None,
                 auto_remove: bool = True, stop_container: bool = True, docker_env: Optional[Dict[str, str]] = None,
                 expose_port: int = 8888, token: Any = None, work_dir: Directory = WORKSPACE,
                 bind_dir: Optional[Directory] = None, settings: Settings = None) -> None:
        if str(work_dir) != WORKSPACE:
            raise ValueError(f"work_dir: cells run in {WORKSPACE}")
        self._bind_dir = None if bind_dir is None else pathlib.Path(bind_dir)
        super().__init__(cells.container_environment(custom_image_name, container_name, auto_remove, stop_container,
                                                     docker_env), settings, port=expose_port)

    @property
    def bind_dir(self) -> Optional[pathlib.Path]:
        """The directory of this machine that cells run in, or None: each executor has its own."""
        return self._bind_dir

    async def stop(self) -> None:
        """Ends the containers of all executors that still have one."""
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    async def __aenter__(self) -> DockerJupyterServer:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


class DockerJupyterCodeExecutor(SessionExecutor):
    """Runs code blocks as the cells of one session in a container of its own.

    jupyter_server: a DockerJupyterServer of this package, or its connection_info. kernel_name, timeout: as in
    JupyterCodeExecutor. output_dir: the directory that cells run in, by default bind_dir of the server, else a
    temporary one. Raises ValueError for another server or kernel, a wrong timeout, or two directories.
    """

    def __init__(self, jupyter_server: Any, kernel_name: str = "python3", timeout: int = 60,
                 output_dir: Optional[Directory] = None) -> None:
        cells.check(timeout, kernel_name)
        self._server = cells.server_of(jupyter_server)
        bind_dir = getattr(self._server, "bind_dir", None)
        containers.check_directory(bind_dir, output_dir or bind_dir)
        super().__init__(self._server.environment, timeout, output_dir or bind_dir)

    def _new_place(self) -> Place:
        place: Place = self._server.adopt(super()._new_place())
        return place

    async def execute_code_blocks(self, code_blocks: List[CodeBlock],
                                  cancellation_token: CancellationToken) -> DockerJupyterCodeResult:
        """Runs CODE_BLOCKS in order, up to the first that fails or whose time is over. Raises CancelledError; the
        variables stay after it. Starts the session if start() has not been called."""
        await self.start()
        outputs: List[str] = []
        files: List[pathlib.Path] = []
        exit_code = 0
        for block in code_blocks:
            result = await self._cell(block, cancellation_token)
            made = [path for _, path in cells.output_files(result, self._output_dir)]
            outputs += [*cells.told(result), *made]
            files += map(pathlib.Path, made)
            exit_code = 1 if result.is_error else 0
            if result.is_error:
                break
        return DockerJupyterCodeResult(exit_code=exit_code, output="\n".join(outputs), output_files=files)

    async def __aenter__(self) -> DockerJupyterCodeExecutor:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
