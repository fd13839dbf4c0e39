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
from typing import Any, Coroutine, Dict, Iterator, List, Mapping, Optional, Sequence, TypeVar, Union

from . import AsyncClient, AsyncSession, installs, writable
from .errors import ConfigurationError, PyexecdError
from .results import CodeBlocksResult, Result

ENVIRONMENT = "code"
SCRIPTS = ("python", "bash", "sh")  # languages whose blocks may install something
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

# Held while an executor makes its place, since threads may share it. No member of the executor, which may be copied.
making = threading.RLock()


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
            "environments": {ENVIRONMENT: writable.protected(accepted(environment), directory)},
            "default_environment": ENVIRONMENT, "code_blocks": policies or {}, "sessions": {}, "timeout": timeout,
            "max_timeout": LONGEST_TIMEOUT}
        # A link that code puts into its way later leads nowhere.
        self._directory = None if directory is None else pathlib.Path(directory).resolve()
        if self._directory is not None:
            config["working_directory"] = str(self._directory)
        self._timeout = timeout
        # Packages that blocks have asked for, if the server is to install them; one block at a time.
        self._packages: List[str] = []
        self._installing: Optional[asyncio.Lock] = None
        self._installs = installs_into(environment)
        self._policies = policies or {}
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

    def installs(self, language: str) -> bool:
        """Whether the server carries out what a block of LANGUAGE wants to install."""
        return self._installs and language in SCRIPTS and self._policies.get(language, "run") == "run"

    async def install(self, reading: installs.Reading) -> str:
        """Installs what READING says, for the later blocks; why that is not possible, or "". To be run by
        `background`."""
        self._installing = self._installing or asyncio.Lock()
        async with self._installing:
            packages = installs.merged(self._packages, reading)
            result = await self._client.run_python("", environment_definition=extended(packages), timeout=self._timeout)
            self._look_at(result)
            if result.status in ("error", "refused"):
                return result.text
            self._packages = packages
            return ""

    async def run_block(self, language: str, code: str) -> CodeBlocksResult:
        """Runs one code block, beside what was installed, and returns its result. To be run by `background`."""
        result = await self._client.run_code_blocks([{"language": language, "code": code}], timeout=self._timeout,
                                                    environment_definition=extended(self._packages))
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


def extended(packages: Sequence[str]) -> Optional[Mapping[str, Any]]:
    """The definition of ENVIRONMENT with PACKAGES; None: as it is."""
    return {"type": "venv", "extends": ENVIRONMENT, "pip_packages": list(packages)} if packages else None


def installs_into(environment: Mapping[str, Any]) -> bool:
    """Whether the server can add packages to ENVIRONMENT. In a container, in a venv of the program's own and without a
    sandbox, code installs by itself."""
    return (environment["type"] != "docker" and not environment.get("venv_path")
            and environment.get("isolation") != "none")


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


def write_file(path: pathlib.Path, text: str, mode: int = stat.S_IRUSR | stat.S_IWUSR) -> None:
    """Writes TEXT to PATH, in a directory that scripts have written to: what they have put in its place is
    replaced, and never followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    remove_file(path)
    with opened(path.parent) as directory:
        descriptor = os.open(path.name, flags, stat.S_IRUSR | stat.S_IWUSR, dir_fd=directory)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        os.fchmod(file.fileno(), mode)


def replace_text(path: pathlib.Path, old: str, new: str) -> None:
    """Writes NEW to PATH, as write_file() does, if a file is there that has OLD and nothing else; its mode stays."""
    with opened(path.parent) as directory:
        descriptor = os.open(path.name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=directory)
    try:
        mode = os.fstat(descriptor).st_mode
        expected = old.encode()
        is_old = stat.S_ISREG(mode) and os.read(descriptor, len(expected) + 1) == expected
    finally:
        os.close(descriptor)
    if is_old:
        write_file(path, new, stat.S_IMODE(mode) & 0o777)
