"""An environment with one directory, in a server of its own: what the executors of AutoGen and AG2 stand on.

All places share one event loop in a thread of its own. So executors work from any thread and from any event
loop, one after the other or side by side, and a call can be cancelled while it runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import stat
import threading
import warnings
import weakref
from concurrent.futures import Future
from typing import Any, Coroutine, Dict, Iterator, Mapping, Optional, TypeVar, Union

from . import AsyncClient, AsyncSession, writable
from .errors import ConfigurationError, PyexecdError
from .results import CodeBlocksResult, Result

LONGEST_TIMEOUT = 604800  # seconds; the server takes no longer one

Brought = TypeVar("Brought")


class Background:
    """An event loop in a thread of its own, which starts with the first coroutine. A process that was forked
    has a new one, for places of its own."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._process: Optional[int] = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None or self._process != os.getpid():
                self._loop = asyncio.new_event_loop()
                self._process = os.getpid()
                threading.Thread(target=self._loop.run_forever, name="pyexecd", daemon=True).start()
            return self._loop

    def submit(self, coroutine: Coroutine[Any, Any, Brought]) -> Future[Brought]:
        """Runs COROUTINE; a future that belongs to no loop. Cancelling it cancels the coroutine."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._running())


background = Background()


class Place:
    """Scripts run in ENVIRONMENT (keys as in docs/configuration.md) and in DIRECTORY, which must exist, or,
    where it is None, in a temporary one. TIMEOUT bounds each call that has none of its own, in seconds. POLICIES are
    the key `code_blocks`. The server starts with the first call, and ends with close() or with this object.

    A UserWarning says so when code of ENVIRONMENT has run without a sandbox, once for each place, unless that is what
    it asks for. Raises PyexecdError if other code of this program can have led that of ENVIRONMENT elsewhere."""

    def __init__(self, environment: Mapping[str, Any], directory: Union[pathlib.Path, str, None], timeout: float,
                 policies: Optional[Mapping[str, str]] = None) -> None:
        writable.add(environment, directory)
        config: Dict[str, Any] = {
            "environments": {"code": writable.protected(accepted(environment), directory)},
            "default_environment": "code", "code_blocks": policies or {}, "sessions": {}, "timeout": timeout,
            "max_timeout": LONGEST_TIMEOUT}
        # A link that code puts into its way later leads nowhere.
        self._directory = None if directory is None else pathlib.Path(directory).resolve()
        if self._directory is not None:
            config["working_directory"] = str(self._directory)
        self._timeout = timeout
        self._client = AsyncClient(config=config, environ=writable.variables())
        self._client._code_alone = True  # no hint names an argument that the executors do not have
        self._session: Optional[AsyncSession] = None
        self._warned = environment.get("isolation") == "none"
        self._finalizer = weakref.finalize(self, self._client.close_now)

    @property
    def directory(self) -> pathlib.Path:
        """The directory that code runs in, unless it is a temporary one, by a path without links."""
        assert self._directory
        return self._directory

    def start(self) -> Future[AsyncClient]:
        """Starts the server; a future of that. Without it the first call does."""
        return background.submit(self._client.__aenter__())

    def prepare(self) -> None:
        """Runs nothing, in a process of the environment: what a first call would wait for, an image that is pulled or a
        container that starts, is there then. Raises RuntimeError with the server's words if it cannot be had; this
        place is closed then."""
        self._require(self.run_code(""))

    def begin_session(self) -> None:
        """The same with the session of this place."""
        self._require(self.run_cell(""))

    def _require(self, running: Future[Result]) -> None:
        try:
            result = running.result()
            if result.status in ("error", "refused"):
                raise RuntimeError(result.text)
        except BaseException as error:
            self.close()
            if isinstance(error, PyexecdError) and not isinstance(error, ConfigurationError):
                raise RuntimeError(str(error)) from error
            raise

    def run_code(self, code: str, timeout: Optional[float] = None) -> Future[Result]:
        """Runs CODE as a script, for at most TIMEOUT seconds; a future of its result."""
        return background.submit(self._run_code(code, timeout or self._timeout))

    async def _run_code(self, code: str, timeout: float) -> Result:
        result = await self._client.run_python(code, timeout=timeout)
        self._look_at(result)
        return result

    def run_block(self, language: str, code: str) -> Future[CodeBlocksResult]:
        """Runs one code block; a future of its result."""
        return background.submit(self._run_block({"language": language, "code": code}))

    async def _run_block(self, block: Mapping[str, str]) -> CodeBlocksResult:
        result = await self._client.run_code_blocks([block], timeout=self._timeout)
        for ended in result.blocks:
            self._look_at(ended.result)
        return result

    def run_cell(self, code: str) -> Future[Result]:
        """Runs CODE in the session of this place, which begins with its first cell and, after its end, anew with
        the next; a future of its result."""
        return background.submit(self._run_cell(code))

    async def _run_cell(self, code: str) -> Result:
        if self._session is None:
            self._session = self._client.session()
        session = self._session
        result = await session.run(code, timeout=self._timeout)
        self._look_at(result)
        if not result.session_alive:
            self._session = None
        return result

    def _look_at(self, result: Optional[Result]) -> None:
        """Warns of what RESULT tells, or None: of a sandbox that this machine did not give."""
        ended: Mapping[str, Any] = result.structured if result else {}
        if self._warned or ended.get("isolation") != "none" or ended.get("returncode") is None:
            return
        self._warned = True
        missing = "; ".join(ended["containment"]["missing"])
        warnings.warn(f"code runs without a sandbox, with all rights of this user: {missing}", stacklevel=2)

    def close(self) -> None:
        """Ends the server with all that it has started. May be called twice."""
        self._finalizer()


def accepted(environment: Mapping[str, Any]) -> Mapping[str, Any]:
    """ENVIRONMENT as the server takes it: without a sandbox the network is open, and no key may say so."""
    if environment.get("isolation") == "none" and environment.get("network") is True:
        return {key: value for key, value in environment.items() if key != "network"}
    return environment


@contextlib.contextmanager
def opened(directory: pathlib.Path) -> Iterator[int]:
    """A descriptor of DIRECTORY, to which no link leads. Raises OSError where a script has put one into the way."""
    with contextlib.ExitStack() as stack:
        here: Optional[int] = None
        for part in directory.parts:
            here = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            stack.callback(os.close, here)
        assert here is not None
        yield here


def remove_file(path: pathlib.Path) -> None:
    """Removes the file at PATH, which may be missing, from a directory that scripts have written to."""
    with opened(path.parent) as directory:
        pathlib.Path(f"/proc/self/fd/{directory}", path.name).unlink(missing_ok=True)


def write_file(path: pathlib.Path, text: str) -> None:
    """Writes TEXT to PATH, in a directory that scripts have written to: what they have put in its place is
    replaced, and never followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    remove_file(path)
    with opened(path.parent) as directory:
        descriptor = os.open(path.name, flags, stat.S_IRUSR | stat.S_IWUSR, dir_fd=directory)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
