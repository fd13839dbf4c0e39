"""The executors of AutoGen 0.2 that keep state, and the servers that its programs make for them, for pyexecd.coding."""

from __future__ import annotations

import concurrent.futures
import pathlib
from typing import Any, List, Mapping, Optional, TypeVar, Union

from autogen.coding.base import CodeBlock, IPythonCodeResult

from . import blocks, cells, containers
from .fences import FenceExtractor
from .place import Place, making

__all__ = ["DockerJupyterServer", "EmbeddedIPythonCodeExecutor", "JupyterCodeExecutor", "LocalJupyterServer"]


Directory = Union[pathlib.Path, str]
Settings = Optional[Mapping[str, Any]]
Brought = TypeVar("Brought")
Server = TypeVar("Server", bound="JupyterServer")


def waited(future: concurrent.futures.Future[Brought]) -> Brought:
    """What FUTURE brings. Ctrl-C, and whatever else ends the waiting, cancels it."""
    try:
        return future.result()
    except BaseException:
        future.cancel()
        concurrent.futures.wait([future], timeout=10)
        raise


class SessionExecutor:
    """What the executors have in common that run blocks as the cells of one session, in OUTPUT_DIR, which must be
    there, with the keys ENVIRONMENT."""

    def __init__(self, environment: Mapping[str, Any], timeout: int, kernel_name: str, output_dir: Directory) -> None:
        cells.check(timeout, kernel_name)
        self._timeout = timeout
        self._kernel_name = kernel_name
        self._output_dir = pathlib.Path(output_dir)
        if not self._output_dir.exists():
            raise ValueError(f"Output directory {output_dir} does not exist.")
        self._environment = environment
        self._place: Optional[Place] = None

    @property
    def code_extractor(self) -> FenceExtractor:
        """Finds the blocks of a message."""
        return FenceExtractor()

    def _started_place(self) -> Place:
        with making:
            if self._place is None:
                self._place = Place(self._environment, self._output_dir, self._timeout)
            return self._place

    def execute_code_blocks(self, code_blocks: List[CodeBlock]) -> IPythonCodeResult:
        """Runs CODE_BLOCKS in order, up to the first that fails. The variables stay after a timeout."""
        outputs: List[str] = []
        files: List[str] = []
        exit_code = 0
        for block in code_blocks:
            language = blocks.language_of(block.language) or "python"
            result = waited(self._started_place().run_cell(blocks.quiet(language, block.code)))
            made = cells.output_files(result, self._output_dir)
            outputs += [*cells.told(result), *(f"{kind} data saved to {path}" for kind, path in made)]
            files += [path for _, path in made]
            exit_code = 1 if result.is_error else 0
            if result.is_error:
                break
        return IPythonCodeResult(exit_code=exit_code, output="\n".join(outputs), output_files=files)

    def restart(self) -> None:
        """The next block begins a new session."""
        if self._place is not None:
            self._place.close()
            self._place = None


class EmbeddedIPythonCodeExecutor(SessionExecutor):
    """Runs code blocks as the cells of one session: what they define stays until restart().

    timeout: seconds for each block, at least 1. kernel_name: `python3`, as there is no other. output_dir: the
    directory that the cells run in, and in which they leave their files. settings: keys of the environment. Raises
    ValueError for another kernel, a wrong timeout or a directory that is not there.
    """

    def __init__(self, timeout: int = 60, kernel_name: str = "python3", output_dir: Directory = ".", *,
                 settings: Settings = None) -> None:
        super().__init__({**cells.local_environment(), **(settings or {})}, timeout, kernel_name, output_dir)

    @property
    def timeout(self) -> int:
        """Seconds that each block may take."""
        return self._timeout

    @property
    def kernel_name(self) -> str:
        """The kernel: `python3`."""
        return self._kernel_name

    @property
    def output_dir(self) -> str:
        """The directory of the cells and of their files."""
        return str(self._output_dir)


class JupyterServer(cells.JupyterServer):
    """What the servers of AutoGen 0.2 have in common."""

    def stop(self) -> None:
        """Ends the sessions of all executors."""
        self.close()

    def __enter__(self: Server) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class LocalJupyterServer(JupyterServer):
    """Where JupyterCodeExecutors run on this machine, in a sandbox where the machine has one. Nothing listens: ip,
    port, token and the four of a log have no effect. settings: keys of the environment."""

    def __init__(self, ip: str = "127.0.0.1", port: Optional[int] = None, token: Any = JupyterServer.GenerateToken(),
                 log_file: Optional[str] = "jupyter_gateway.log", log_level: str = "INFO",
                 log_max_bytes: int = 1048576, log_backup_count: int = 3, *, settings: Settings = None) -> None:
        super().__init__(cells.local_environment(), settings, ip, port)


class DockerJupyterServer(JupyterServer):
    """Where JupyterCodeExecutors run in containers, one for each of them. No port is opened: token has no effect.

    The parameters are AutoGen's; docs/autogen.md says of each what it does here. docker_kwargs are those of
    docker.containers.create(). Raises ValueError for stop_container=False and for arguments that no environment has.
    """

    def __init__(self, *, custom_image_name: Optional[str] = None, container_name: Optional[str] = None,
                 auto_remove: bool = True, stop_container: bool = True, docker_env: Optional[Mapping[str, str]] = None,
                 token: Any = JupyterServer.GenerateToken(), settings: Settings = None, **docker_kwargs: Any) -> None:
        environment = cells.container_environment(custom_image_name, container_name, auto_remove, stop_container,
                                                  docker_env)
        super().__init__({**environment, **containers.options(docker_kwargs)}, settings)


class JupyterCodeExecutor(SessionExecutor):
    """Runs code blocks as the cells of one session of a server: what they define stays until stop() or restart().

    jupyter_server: a LocalJupyterServer or DockerJupyterServer of this package, or its connection_info. The others are
    as in EmbeddedIPythonCodeExecutor. The session begins here. Raises ValueError for another server or kernel, a wrong
    timeout or a directory that is not there; RuntimeError with the server's words if there can be no session.
    """

    def __init__(self, jupyter_server: Any, kernel_name: str = "python3", timeout: int = 60,
                 output_dir: Directory = pathlib.Path(".")) -> None:
        self._server = cells.server_of(jupyter_server)
        super().__init__(self._server.environment, timeout, kernel_name, output_dir)
        self._started_place().begin_session()

    def _started_place(self) -> Place:
        place: Place = self._server.adopt(super()._started_place())
        return place

    def stop(self) -> None:
        """Ends the session with all that it has started."""
        self.restart()

    def __enter__(self) -> JupyterCodeExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
