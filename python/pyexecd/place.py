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
from typing import Any, AsyncIterator, Coroutine, Dict, Iterator, Mapping, Optional, Sequence, TypeVar, Union

from . import AsyncClient, AsyncSession
from .definition import accepted, beneath
from .errors import ConnectionLost, PyexecdError
from .overlay import CLOSED, Overlay
from .results import CodeBlocksResult, Result, refused_blocks

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
    the key `code_blocks`. What blocks and cells install goes to OVERLAY, which stands on ENVIRONMENT and ends with this
    place; without it they install nothing. Without INSTALLS no hint names a command that does: commands of scripts are
    not read. The server starts with the first call, and ends with close() or with this object, which then removes the
    file SCRIPT.

    A UserWarning says so when code of ENVIRONMENT has run without a sandbox, once for each place, unless that is what
    it asks for."""

    def __init__(self, environment: Mapping[str, Any], directory: Union[pathlib.Path, str, None], timeout: float,
                 policies: Optional[Mapping[str, str]] = None, overlay: Optional[Overlay] = None,
                 script: Optional[pathlib.Path] = None, installs: bool = True) -> None:
        self._timeout = timeout
        self._overlay = overlay
        self._installs = installs and overlay is not None
        # A link that code puts into its way later leads nowhere.
        self._directory = None if directory is None else pathlib.Path(directory).resolve()
        self._policies = policies or {}
        self._environment: Mapping[str, Any] = beneath(environment) if overlay else environment
        self._session: Optional[AsyncSession] = None
        self._session_client: Optional[AsyncClient] = None
        self._session_environment: Optional[Mapping[str, Any]] = None
        self._warned = environment.get("isolation") == "none"
        self._used: Dict[AsyncClient, str] = {}  # the virtual environments of clients
        self._clients = [self._new_client()]  # the last one is for new calls
        self._calls = {self._clients[0]: 0}
        self._finalizer = weakref.finalize(self, end, self._clients, script, os.getpid())

    def _new_client(self) -> AsyncClient:
        config: Dict[str, Any] = {
            "environments": {"code": accepted(self._environment)}, "default_environment": "code",
            "code_blocks": self._policies, "sessions": {}, "timeout": self._timeout, "max_timeout": LONGEST_TIMEOUT}
        if self._directory is not None:
            config["working_directory"] = str(self._directory)
        client = self._overlay.client(config) if self._overlay else AsyncClient(config=config)
        self._used[client] = self._environment.get("venv_path", "")
        client._code_alone = {"installs": True} if self._installs else {}  # no hint names an argument
        return client

    async def _renew(self) -> None:
        """Gives new calls a server with what is installed by now. Raises PyexecdError if that is needed and cannot be
        made."""
        environment = await self._overlay.environment() if self._overlay else None
        if environment is not None and environment != self._environment:
            self._environment = environment
            client = self._new_client()
            self._clients.append(client)
            self._calls[client] = 0

    @contextlib.asynccontextmanager
    async def _serving(self) -> AsyncIterator[AsyncClient]:
        """The client for a new call, whose server lives until the call has ended."""
        client = self._clients[-1]
        self._calls[client] += 1
        try:
            yield client
        finally:
            self._calls[client] -= 1
            await self._close_idle()

    async def _close_idle(self) -> None:
        """Ends the servers of earlier environments in which nothing runs any more."""
        idle = [client for client in self._clients[:-1] if not self._calls[client]]
        for client in idle:  # All of them at once: other calls end while a server does.
            self._clients.remove(client)
            del self._calls[client]
        for client in idle:
            await client.close()
            del self._used[client]
        if self._overlay and self._session is None:  # What a session has imported may lie in any of them.
            self._overlay.forget(self._used.values())

    @property
    def directory(self) -> pathlib.Path:
        """The directory that code runs in, unless it is a temporary one, by a path without links."""
        assert self._directory
        return self._directory

    def start(self) -> Future[AsyncClient]:
        """Starts the server; a future of that. Without it the first call does."""
        return background.submit(self._clients[-1].__aenter__())

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
        except PyexecdError as error:
            self.close()
            raise RuntimeError(str(error)) from error
        except BaseException:
            self.close()
            raise

    def run_code(self, code: str, timeout: Optional[float] = None) -> Future[Result]:
        """Runs CODE as a script, for at most TIMEOUT seconds; a future of its result."""
        return background.submit(self._run_code(code, timeout or self._timeout))

    async def _run_code(self, code: str, timeout: float) -> Result:
        await self._renew()
        async with self._serving() as client:
            result = await client.run_python(code, timeout=timeout)
        self._look_at(result)
        return result

    def run_block(self, language: str, code: str) -> Future[CodeBlocksResult]:
        """Runs one code block; a future of its result."""
        return background.submit(self._run_block(language, code))

    async def _run_block(self, language: str, code: str) -> CodeBlocksResult:
        told = code
        if self._overlay and self._policies.get(language) != "save":
            told = await self._overlay.carried_out(language, code)
        try:
            await self._renew()
        except PyexecdError as error:
            return refused_blocks(str(error))
        try:
            async with self._serving() as client:
                result = await client.run_code_blocks([{"language": language, "code": told}], timeout=self._timeout)
        except ConnectionLost:
            if told == code or self._finalizer.alive:
                raise
            return refused_blocks(CLOSED)  # while something was installed
        for ended in result.blocks:
            self._look_at(ended.result)
            if told != code:
                self._restore(ended.file, code)
        return result

    def _restore(self, file: Optional[str], code: str) -> None:
        """Writes CODE, as the model has it, to FILE, a path in the directory, if no link leads there."""
        if self._directory is not None and file and os.pardir not in pathlib.Path(file).parts:
            with contextlib.suppress(OSError):  # a script can have put anything there
                write_file(self._directory / file, code)

    def run_cell(self, code: str) -> Future[Result]:
        """Runs CODE in the session of this place, which begins with its first cell and, after its end, anew with
        the next; a future of its result."""
        return background.submit(self._run_cell(code))

    async def _run_cell(self, code: str) -> Result:
        if self._overlay:
            code = await self._overlay.carried_out_in_cell(code)
            if not self._finalizer.alive:
                raise PyexecdError(CLOSED)
        if self._session is None:
            await self._begin_session()
        await self._renew()
        assert self._session
        if self._overlay and self._environment != self._session_environment:
            self._session_environment = self._environment
            await self._session.run(self._overlay.entry)
        result = await self._session.run(code, timeout=self._timeout)
        self._look_at(result)
        if not result.session_alive:
            await self._end_session()
        return result

    async def _begin_session(self) -> None:
        """Its server stays until it ends, whatever is installed meanwhile."""
        await self._renew()
        async with self._serving() as client:
            self._calls[client] += 1
            self._session = client.session()
        self._session_client = client
        self._session_environment = self._environment

    async def _end_session(self) -> None:
        self._session = None
        assert self._session_client
        self._calls[self._session_client] -= 1
        await self._close_idle()

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
        if self._overlay:
            self._overlay.close()


def end(clients: Sequence[AsyncClient], script: Optional[pathlib.Path], process: int) -> None:
    """Ends the servers of CLIENTS, and then removes SCRIPT, in the process that has made them: before that it would
    have to be made anew for each block, which takes ten times as long."""
    for client in clients:
        client.close_now()
    if script is not None and os.getpid() == process:
        with contextlib.suppress(OSError):  # a script can have put anything there
            remove_file(script)


@contextlib.contextmanager
def opened(directory: pathlib.Path) -> Iterator[pathlib.Path]:
    """DIRECTORY, to which no link leads, by a path that stays. Raises OSError where a script has put one into the
    way."""
    with contextlib.ExitStack() as stack:
        here: Optional[int] = None
        for part in directory.parts:
            here = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            stack.callback(os.close, here)
        yield pathlib.Path(f"/proc/self/fd/{here}")


def remove_file(path: pathlib.Path) -> None:
    """Removes the file at PATH, which may be missing, from a directory that scripts have written to."""
    with opened(path.parent) as directory:
        (directory / path.name).unlink(missing_ok=True)


def write_file(path: pathlib.Path, text: str) -> None:
    """Writes TEXT to PATH, in a directory that scripts have written to: what they have put in its place is
    replaced, and never followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    remove_file(path)
    with opened(path.parent) as directory:
        descriptor = os.open(directory / path.name, flags, stat.S_IRUSR | stat.S_IWUSR)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
