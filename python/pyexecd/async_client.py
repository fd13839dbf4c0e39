"""The asynchronous client. It waits in the caller's event loop; threads of the transport do the rest."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from types import TracebackType
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Type, Union

from . import calls
from .calls import Blocks, Files
from .connection import Answer, Call, Connection, Progress
from .errors import CallTimeout, ToolError
from .results import CodeBlocksResult, File, Result, ToolResult, code_blocks_result, run_result, tool_result

OnProgress = Callable[[str], None]


class AsyncClient:
    """The same as `Client`, for programs with an event loop: methods are coroutines.

        async with pyexecd.AsyncClient() as client:
            print((await client.run_python("print(6 * 7)")).stdout)

    The server is started by `async with`, else by the first call. A task that is cancelled cancels its call. Any number
    of tasks may use one client at a time, of one event loop. The arguments are those of `Client`.
    """

    def __init__(self, command: Union[Sequence[str], str, None] = None, *,
                 config: Union[str, Mapping[str, Any], None] = None, url: Optional[str] = None,
                 socket: Optional[str] = None, token: Optional[str] = None,
                 environ: Optional[Mapping[str, str]] = None, timeout: Optional[float] = None,
                 cwd: Optional[str] = None) -> None:
        transport = calls.chosen_transport(command, config, url, socket, token, environ, cwd)
        self._timeout = timeout
        self._code_alone: Optional[Dict[str, bool]] = None  # set by what stands between this client and a model
        self._connection = Connection(transport)
        # Also at the end of the interpreter, and when nobody has this client any more.
        self._finalizer = weakref.finalize(self, self._connection.close)
        self._starting: Optional[asyncio.Future[None]] = None
        self.server_info: Mapping[str, Any] = {}

    async def __aenter__(self) -> AsyncClient:
        try:
            await self._start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connection, and the server if this client has started it. Calls that still go are cancelled."""
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, self._finalizer))

    def close_now(self) -> None:
        """As `close()`, for where no event loop runs: waits until a server that this client has started has ended."""
        self._finalizer()

    async def run_python(self, code: str, *, environment: Optional[str] = None,
                         environment_definition: Optional[Mapping[str, Any]] = None, timeout: Optional[float] = None,
                         files: Files = None, working_directory: Optional[str] = None, session: Optional[str] = None,
                         fork: Optional[str] = None, on_progress: Optional[OnProgress] = None) -> Result:
        """As `Client.run_python()`. ON_PROGRESS is called in the event loop. To cancel the call, cancel its task."""
        arguments = calls.run_arguments(code, environment, environment_definition, timeout, files, working_directory,
                                        session, fork)
        return run_result(await self._call("run_python", arguments, on_progress))

    async def run_code_blocks(self, blocks: Blocks = None, *, message: Optional[str] = None,
                              environment: Optional[str] = None,
                              environment_definition: Optional[Mapping[str, Any]] = None,
                              timeout: Optional[float] = None, working_directory: Optional[str] = None,
                              on_progress: Optional[OnProgress] = None) -> CodeBlocksResult:
        """As `Client.run_code_blocks()`."""
        arguments = calls.block_arguments(blocks, message, environment, environment_definition, timeout,
                                          working_directory)
        return code_blocks_result(await self._call("run_code_blocks", arguments, on_progress))

    def session(self, *, environment: Optional[str] = None,
                environment_definition: Optional[Mapping[str, Any]] = None,
                working_directory: Optional[str] = None) -> AsyncSession:
        """As `Client.session()`. Not a coroutine: nothing is sent before the first cell."""
        return AsyncSession(self, environment, environment_definition, working_directory)

    async def read_file(self, uri: str) -> bytes:
        """As `Client.read_file()`."""
        reading = calls.FileReading(uri)
        while reading.next_uri:
            reading.add(await self._request("resources/read", {"uri": reading.next_uri}, timeout=self._timeout))
        return bytes(reading.data)

    async def list_files(self, working_directory: Optional[str] = None) -> List[File]:
        """As `Client.list_files()`."""
        return calls.listed_files(await self._pages("resources/list", "resources"), working_directory)

    async def list_tools(self) -> List[Dict[str, Any]]:
        """As `Client.list_tools()`."""
        return await self._pages("tools/list", "tools")

    async def call_tool(self, name: str, arguments: Optional[Mapping[str, Any]] = None, *,
                        on_progress: Optional[OnProgress] = None) -> ToolResult:
        """As `Client.call_tool()`."""
        return tool_result(await self._call(name, arguments or {}, on_progress))

    async def _start(self) -> None:
        """Starts the server, once: a call that is cancelled meanwhile leaves that to the others."""
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._begin())
            # Its error is that of the calls; they may all have been cancelled.
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._starting)

    async def _begin(self) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(None, self._connection.start)
            answer = await self._exchange("initialize", calls.initialize(self._code_alone), None,
                                          self._timeout or calls.START_SECONDS)
            self._connection.agree(answer["protocolVersion"])
            self.server_info = answer["serverInfo"]
        except BaseException:
            await self.close()
            raise

    async def _call(self, name: str, arguments: Mapping[str, Any],
                    on_progress: Optional[OnProgress]) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = await self._request("tools/call", calls.tool_call(name, arguments), on_progress,
                                                        self._timeout)
        return answer

    async def _pages(self, method: str, member: str) -> List[Dict[str, Any]]:
        found: List[Dict[str, Any]] = []
        params: Optional[Dict[str, Any]] = {}
        while params is not None:
            page = await self._request(method, params, timeout=self._timeout)
            found += page[member]
            params = {"cursor": page["nextCursor"]} if page.get("nextCursor") else None
        return found

    async def _request(self, method: str, params: Mapping[str, Any], on_progress: Optional[OnProgress] = None,
                       timeout: Optional[float] = None) -> Any:
        await self._start()
        return await self._exchange(method, params, on_progress, timeout)

    async def _exchange(self, method: str, params: Mapping[str, Any], on_progress: Optional[OnProgress],
                        timeout: Optional[float]) -> Any:
        """Sends a request and waits for its answer. Whatever ends the waiting cancels it."""
        loop = asyncio.get_running_loop()
        news: asyncio.Queue[Union[Progress, Answer]] = asyncio.Queue()

        def deliver(event: Union[Progress, Answer]) -> None:
            with contextlib.suppress(RuntimeError):  # The loop has been closed.
                loop.call_soon_threadsafe(news.put_nowait, event)

        call: Call = self._connection.request(method, params, deliver)
        try:
            return await asyncio.wait_for(_answer(news, on_progress), timeout)
        except asyncio.TimeoutError as error:
            call.cancel()
            raise CallTimeout("no answer came within the timeout of the client") from error
        except BaseException:
            call.cancel()
            raise


async def _answer(news: asyncio.Queue[Union[Progress, Answer]], on_progress: Optional[OnProgress]) -> Any:
    while True:
        event = await news.get()
        if isinstance(event, Answer):
            if event.error:
                raise event.error
            return event.result
        if on_progress:
            on_progress(event.message)


class AsyncSession:
    """The same as `Session`, with coroutines. Made by `AsyncClient.session()`."""

    def __init__(self, client: AsyncClient, environment: Optional[str],
                 environment_definition: Optional[Mapping[str, Any]], working_directory: Optional[str]) -> None:
        self._client = client
        self._first: Dict[str, Any] = {"environment": environment, "environment_definition": environment_definition,
                                       "working_directory": working_directory}
        self._lock: Optional[asyncio.Lock] = None
        self.handle: Optional[str] = None

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.close()

    async def run(self, code: str, *, timeout: Optional[float] = None, files: Files = None,
                  on_progress: Optional[OnProgress] = None) -> Result:
        """As `Session.run()`."""
        async with self._turn():
            refused = await self._begin(on_progress)
            if refused:
                return refused
            return await self._client.run_python(code, timeout=timeout, files=files, session=self.handle,
                                                 on_progress=on_progress)

    async def fork(self) -> AsyncSession:
        """As `Session.fork()`."""
        async with self._turn():
            refused = await self._begin(None)
            if refused:
                raise ToolError(refused.text, refused)
            made = (await self._client.run_python("", fork=self.handle)).check()
        copy = AsyncSession(self._client, None, None, None)
        copy.handle = made.session
        return copy

    async def restart(self) -> None:
        """As `Session.restart()`."""
        if self.handle:
            result = await self._client.call_tool("manage_sessions", {"action": "restart", "session": self.handle})
            result.check()

    async def close(self) -> None:
        """As `Session.close()`."""
        if self.handle:
            await self._client.call_tool("manage_sessions", {"action": "close", "session": self.handle})

    def _turn(self) -> asyncio.Lock:
        """Made in the event loop that uses it, as Python 3.9 wants it."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock

    async def _begin(self, on_progress: Optional[OnProgress]) -> Optional[Result]:
        """As `Session._begin()`."""
        if self.handle:
            return None
        begun = await self._client.run_python("", session="new", on_progress=on_progress, **self._first)
        self.handle = begun.session
        return None if self.handle else begun
