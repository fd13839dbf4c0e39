"""The synchronous client."""

from __future__ import annotations

import contextlib
import threading
import weakref
from types import TracebackType
from typing import Any, Dict, Iterable, List, Mapping, Optional, Type, Union

from . import calls
from .calls import Blocks
from .configuration import Config, Path
from .connection import Connection
from .errors import ConnectionLost, ProtocolError, ToolError
from .listener import Listener, OnOutput, OnProgress
from .many import programs_for
from .process import Command
from .provided_files import Files, are_many, check_place, shipments
from .provider_calls import ModelCall, calls_in
from .provider_tools import declared
from .results import CodeBlocksResult, File, Result, ToolResult, accepted, code_blocks_result, run_result, tool_result
from .runs import Runs
from .waiting import Ended, Waiting


class Client:
    """A client of pyexecd, and by default the server that it starts.

        with pyexecd.Client() as client:
            print(client.run_python("print(6 * 7)").stdout)

    Any number of threads may use one client at a time, also a thread that runs an event loop. Ctrl-C and every other
    exception during a call cancel the call.

    Args:
        command: the server: a program, or a program and its arguments. Default: the program `pyexecd`, looked for
            beside this Python, where this environment has its scripts, and on PATH.
        config: the server's configuration: the path of a YAML file, or its content as a dict. Paths in a dict have
            to be absolute. In a dict, sessions and code blocks are on, and code runs in the Python of this program,
            unless the keys `sessions`, `code_blocks` and `environments` say something else; None leaves a key out.
            Default: the configuration of this user, or else that of an empty dict.
        url: connects to a server that runs already: `http://...`, `https://...`, `unix:/path`, `unix:///path#/mcp`
            (HTTP) or `tcp://host:port`.
        socket: the same, by the path of a unix socket.
        token: for a server at a URL that wants one.
        environ: environment variables of the server that is started. Default: all of this process.
        timeout: seconds that one call may take in all, preparation included; then it is cancelled and CallTimeout is
            raised. Default: no limit but the server's.
        cwd: the directory that the server is started in; scripts may read it. Default: that of this process.

    Raises:
        ConfigurationError: the server does not accept its configuration.
        ConnectionLost: the server cannot be started or reached.
        ValueError, TypeError: the arguments do not fit together.
    """

    def __init__(self, command: Command = None, *, config: Config = None, url: Optional[str] = None,
                 socket: Optional[Path] = None, token: Optional[str] = None,
                 environ: Optional[Mapping[str, str]] = None, timeout: Optional[float] = None,
                 cwd: Optional[Path] = None) -> None:
        transport = calls.chosen_transport(command, config, url, socket, token, environ, cwd)
        self._timeout = timeout
        self._connection = Connection(transport)
        # Also at the end of the interpreter, and when nobody has this client any more.
        self._finalizer = weakref.finalize(self, self._connection.close)
        self._connection.start()
        try:
            answer = self._request("initialize", calls.initialize(), timeout=timeout or calls.START_SECONDS)
            self._connection.agree(answer["protocolVersion"])
        except BaseException:
            self.close()
            raise
        self.server_info: Mapping[str, Any] = answer["serverInfo"]

    def close(self) -> None:
        """Ends the connection, and the server if this client has started it. Calls that still go are cancelled."""
        self._finalizer()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def run_python(self, code: str, *, environment: Optional[str] = None,
                   environment_definition: Optional[Mapping[str, Any]] = None, timeout: Optional[float] = None,
                   files: Files = None, working_directory: Optional[str] = None, session: Optional[str] = None,
                   fork: Optional[str] = None, on_progress: Optional[OnProgress] = None,
                   on_stdout: Optional[OnOutput] = None, on_stderr: Optional[OnOutput] = None,
                   cancel: Optional[threading.Event] = None) -> Result:
        """Runs a program and returns what it did. A program that fails is a result, not an exception.

        Args:
            code: the whole program.
            environment: the name of a configured environment.
            environment_definition: an environment of this call's own, such as
                `{"type": "venv", "pip_packages": ["numpy"]}`, where the operator allows it.
            timeout: seconds after which the program is stopped; the server's default is 30.
            files: files to put into the working directory first: `{path: content}`, where a content is str, bytes, or
                the path of a file on this machine as an `os.PathLike`; or a list of such paths, which keep their names.
                More than 3 MB go ahead in calls of their own.
            working_directory: that of an earlier result, to go on with its files.
            session: "new" to keep the Python, or the `session` of an earlier result to go on with it.
            fork: instead of `session`, the `session` of an earlier result to go on in a copy of it. The result has the
                name of the copy.
            on_progress: called in this thread with a line of text now and then: the newest line of output, or the step
                of a preparation.
            on_stdout, on_stderr: called in this thread with what the program prints, as it comes: text, in pieces of
                any length. A line such as `... [512 bytes left out] ...` stands for what comes faster than it can be
                sent or heard; the result has it.
            cancel: when this event is set, the call is cancelled and CallCancelled is raised.

        Raises:
            CallRefused: nothing was run, as an argument does not fit, the session has ended or the server is busy.
            TypeError: CODE or one of FILES is of another type.
            ConnectionLost, ProtocolError, CallTimeout, CallCancelled.
        """
        if are_many(files):
            check_place(session, fork)
            working_directory = self._ship(files, environment, environment_definition, working_directory, cancel)
            files = None
        arguments = calls.run_arguments(code, environment, environment_definition, timeout, files, working_directory,
                                        session, fork)
        listener = Listener(on_progress, on_stdout, on_stderr)
        return accepted(run_result(self._call("run_python", arguments, listener, cancel)))

    def map(self, code: str, inputs: Iterable[Any], *, parallel: Optional[int] = None, timeout: Optional[float] = None,
            environment: Optional[str] = None, environment_definition: Optional[Mapping[str, Any]] = None,
            working_directory: Optional[str] = None, cancel: Optional[threading.Event] = None) -> Runs:
        """Runs a program once for each input, several at a time. A run that fails costs only itself.

            for result in client.map("def main(n): return n ** 2", range(4)):
                print(json.loads(result.stdout))

        Args:
            code: the whole program. It defines `main(input)`, which is called with an input; what that returns, unless
                None, is printed as JSON: the last line of `stdout`.
            inputs: anything that JSON can say. They are taken when there is a place for their run.
            parallel: runs at a time, if the server's `limits.concurrent_runs` allows so many. Default: the number of
                processors, at most 32.
            timeout: seconds for each run; the server's default is 30.
            environment: the name of a configured environment. Default: the server's default environment.
            environment_definition: an environment of these runs' own, where the operator allows it.
            working_directory: that of an earlier result. Default: that of the client, as for any call of it.
            cancel: when this event is set, all runs are cancelled and CallCancelled is raised.

        Returns:
            The results in the order of the inputs; `as_completed()` of it has them as they come. Runs begin when
            results are asked for, and end with the iteration. A run that was refused has a result, too.

        Raises:
            ValueError: CODE has no `main`, or an async one, or PARALLEL is less than 1.
            TypeError: CODE is no str, or PARALLEL no int.
            TypeError or ValueError, behind the results of the inputs before it: JSON cannot say an input.
            ConnectionLost, CallCancelled, while results come.
        """
        return self.run_many(programs_for(code, inputs), parallel=parallel, timeout=timeout, environment=environment,
                             environment_definition=environment_definition, working_directory=working_directory,
                             cancel=cancel)

    def run_many(self, programs: Iterable[str], *, parallel: Optional[int] = None, timeout: Optional[float] = None,
                 environment: Optional[str] = None, environment_definition: Optional[Mapping[str, Any]] = None,
                 working_directory: Optional[str] = None, cancel: Optional[threading.Event] = None) -> Runs:
        """Runs programs, several at a time. A program that fails costs only itself.

        Args:
            programs: whole programs. They are taken when there is a place for their run.
            parallel: runs at a time, if the server's `limits.concurrent_runs` allows so many. Default: the number of
                processors, at most 32.
            timeout: seconds for each run; the server's default is 30.
            environment: the name of a configured environment. Default: the server's default environment.
            environment_definition: an environment of these runs' own, where the operator allows it.
            working_directory: that of an earlier result. Default: that of the client, as for any call of it.
            cancel: when this event is set, all runs are cancelled and CallCancelled is raised.

        Returns:
            The results in the order of the programs, for `for`; `as_completed()` of it has pairs of an index and a
            result, as they come. A run that was refused has a result, too.

        Raises:
            ValueError: PARALLEL is less than 1.
            TypeError: PROGRAMS is one str, or PARALLEL no int.
            TypeError, behind the results of the programs before it: a program is no str.
            ConnectionLost, CallCancelled, while results come.
        """
        def begin(code: str, ended: Ended) -> Waiting:
            arguments = calls.run_arguments(code, environment, environment_definition, timeout, None,
                                            working_directory, None, None)
            waiting = Waiting(self._connection, self._timeout, Listener(), ended)
            waiting.send("tools/call", calls.tool_call("run_python", arguments, False))
            return waiting

        return Runs(begin, programs, parallel, cancel)

    def run_code_blocks(self, blocks: Blocks = None, *, message: Optional[str] = None,
                        environment: Optional[str] = None,
                        environment_definition: Optional[Mapping[str, Any]] = None, timeout: Optional[float] = None,
                        working_directory: Optional[str] = None, on_progress: Optional[OnProgress] = None,
                        on_stdout: Optional[OnOutput] = None, on_stderr: Optional[OnOutput] = None,
                        cancel: Optional[threading.Event] = None) -> CodeBlocksResult:
        """Runs code blocks one after the other, unless the configuration has no `code_blocks`.

        Args:
            blocks: `(language, code)` pairs, or `{"language": ..., "code": ...}`.
            message: instead of blocks, a Markdown text with fenced blocks.
            environment: the name of a configured environment. Default: the server's default environment.
            environment_definition: an environment of this call's own, where the operator allows it.
            timeout: seconds for all of them; the server's default is 30.
            working_directory: that of an earlier result, to go on with its files.
            on_progress, on_stdout, on_stderr, cancel: as in `run_python()`.

        Returns:
            The exit code of the last block that was tried, and the results of all that were: the first that fails is
            the last. A block that fails is no exception.

        Raises:
            CallRefused: nothing was run, as an argument does not fit or the server is busy.
            ProtocolError: the configuration has no `code_blocks`.
            ConnectionLost, CallTimeout, CallCancelled.
        """
        arguments = calls.block_arguments(blocks, message, environment, environment_definition, timeout,
                                          working_directory)
        listener = Listener(on_progress, on_stdout, on_stderr)
        return accepted(code_blocks_result(self._call("run_code_blocks", arguments, listener, cancel)))

    def session(self, *, environment: Optional[str] = None,
                environment_definition: Optional[Mapping[str, Any]] = None,
                working_directory: Optional[str] = None) -> Session:
        """A Python that is kept from call to call, unless the configuration has no `sessions`.

        It begins with its first cell. Where sessions are off, that raises CallRefused.

        Args:
            environment: the name of a configured environment. Default: the server's default environment.
            environment_definition: an environment of this session's own, where the operator allows it.
            working_directory: that of an earlier result, to go on with its files.
        """
        return Session(self, environment, environment_definition, working_directory)

    def read_file(self, file: Union[File, str]) -> bytes:
        """The bytes of a file in a working directory: FILE is one of a result's or of `list_files()`, or its uri.

        Raises ProtocolError if it is not there."""
        reading = calls.FileReading(file)
        while reading.next_uri:
            reading.add(self._request("resources/read", {"uri": reading.next_uri}, timeout=self._timeout))
        return bytes(reading.data)

    def list_files(self, working_directory: Optional[str] = None) -> List[File]:
        """The files of the working directories that this client has used, or of WORKING_DIRECTORY, that of a result.

        Raises ConnectionLost, ProtocolError or CallTimeout."""
        return calls.listed_files(self._pages("resources/list", "resources"), working_directory)

    def list_tools(self) -> List[Dict[str, Any]]:
        """The tools of the server, as the protocol describes them: name, description, inputSchema and more.

        Raises ConnectionLost, ProtocolError or CallTimeout."""
        return self._pages("tools/list", "tools")

    def call_tool(self, name: str, arguments: Optional[Mapping[str, Any]] = None, *,
                  on_progress: Optional[OnProgress] = None, cancel: Optional[threading.Event] = None) -> ToolResult:
        """Calls the tool NAME of the server with ARGUMENTS, as its schema has them. A tool that fails is a result: its
        `check()` raises.

        Args:
            on_progress, cancel: as in `run_python()`.

        Raises:
            ProtocolError: there is no such tool.
            ConnectionLost, CallTimeout, CallCancelled.
        """
        return tool_result(self._call(name, arguments or {}, Listener(on_progress), cancel))

    def tools(self, provider: str) -> List[Any]:
        """The server's tools, to be declared to a model that calls functions: "openai" (chat completions),
        "openai-responses", "anthropic" or "gemini".

        `run_code_blocks` and `run_many` are not among them: one is for programs that get messages with code, and no
        strict schema describes the inputs of the other.

        Raises ValueError for another provider."""
        return declared(provider, self.list_tools())

    def answer(self, said: Any, *, on_progress: Optional[OnProgress] = None,
               cancel: Optional[threading.Event] = None) -> List[Any]:
        """Does what a model asks for: the answers to its tool calls, in their order and in the form of its provider.
        The calls run at the same time. A call that fails has an answer as well, from which the model learns why.

        Args:
            said: a response of the model, a message of it, one tool call, or a list of them: an object of the SDKs of
                OpenAI, Anthropic or Google, or a dict of the same form. A response without calls has no answers. A call
                of a tool that the server has not is answered with an error: a program with tools of its own hands over
                the other calls one by one.
            on_progress, cancel: as in `run_python()`.

        Returns:
            Messages of the role "tool" (openai), `function_call_output` items (openai-responses), `tool_result` blocks
            for a message of the user (anthropic), or `functionResponse` parts for one (gemini).

        Raises:
            TypeError: SAID is nothing of that kind.
            ConnectionLost, CallTimeout, CallCancelled.
        """
        calls_made = calls_in(said)
        with contextlib.ExitStack() as stack:
            waiting = [stack.enter_context(contextlib.closing(Waiting(self._connection, self._timeout,
                                                                       Listener(on_progress))))
                       for _ in calls_made]
            answers = [_begin_answer(call, each) for call, each in zip(calls_made, waiting)]
            return [answer or _model_answer(call, each, cancel)
                    for call, each, answer in zip(calls_made, waiting, answers)]

    def _ship(self, files: Files, environment: Optional[str], definition: Optional[Mapping[str, Any]],
              directory: Optional[str], cancel: Optional[threading.Event]) -> Optional[str]:
        """Puts FILES into DIRECTORY, or a new one, by calls of their own; returns its handle. Raises ToolError."""
        for shipment in shipments(files):
            done = self.run_python(shipment.code, files=shipment.files, environment=environment,
                                   environment_definition=definition, working_directory=directory, cancel=cancel)
            directory = done.check().working_directory
        return directory

    def _call(self, name: str, arguments: Mapping[str, Any], listener: Listener,
              cancel: Optional[threading.Event]) -> Mapping[str, Any]:
        params = calls.tool_call(name, arguments, listener.wants_output)
        answer: Mapping[str, Any] = self._request("tools/call", params, listener=listener, cancel=cancel,
                                                  timeout=self._timeout)
        return answer

    def _pages(self, method: str, member: str) -> List[Dict[str, Any]]:
        found: List[Dict[str, Any]] = []
        params: Optional[Dict[str, Any]] = {}
        while params is not None:
            page = self._request(method, params, timeout=self._timeout)
            found += page[member]
            params = {"cursor": page["nextCursor"]} if page.get("nextCursor") else None
        return found

    def _request(self, method: str, params: Mapping[str, Any], *, listener: Optional[Listener] = None,
                 cancel: Optional[threading.Event] = None, timeout: Optional[float] = None) -> Any:
        """Sends a request and waits for its answer. Whatever ends the waiting cancels it."""
        with contextlib.closing(Waiting(self._connection, timeout, listener or Listener())) as waiting:
            waiting.send(method, params)
            return waiting.answer(cancel)


def _begin_answer(call: ModelCall, waiting: Waiting) -> Optional[Any]:
    """Sends CALL. An answer already where it cannot be sent: what the model has written is no call."""
    try:
        waiting.send("tools/call", {"name": call.name, "arguments": call.arguments()})
    except ValueError as error:
        return call.failed(error)
    return None


def _model_answer(call: ModelCall, waiting: Waiting, cancel: Optional[threading.Event]) -> Any:
    try:
        return call.answered(waiting.answer(cancel))
    except ProtocolError as error:
        return call.failed(error)


class Session:
    """A Python that is kept from call to call. Made by `Client.session()`; the end of its `with` closes it.

    `handle` is its name, None until the first cell has begun it. Calls of several threads run one after the other.
    """

    def __init__(self, client: Client, environment: Optional[str],
                 environment_definition: Optional[Mapping[str, Any]], working_directory: Optional[str]) -> None:
        self._client = client
        self._first: Dict[str, Any] = {"environment": environment, "environment_definition": environment_definition,
                       "working_directory": working_directory}
        self._lock = threading.Lock()
        self._directory: Optional[str] = None
        self.handle: Optional[str] = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        with contextlib.suppress(ConnectionLost):  # It ends with the server.
            self.close()

    def run(self, code: str, *, timeout: Optional[float] = None, files: Files = None,
            on_progress: Optional[OnProgress] = None, on_stdout: Optional[OnOutput] = None,
            on_stderr: Optional[OnOutput] = None, cancel: Optional[threading.Event] = None) -> Result:
        """Runs CODE as a cell, with the variables of the cells before. A cell that fails is a result, no exception.

        Args:
            code: the cell. The value of its last line is shown, as in a notebook.
            timeout: seconds after which the cell is interrupted; the server's default is 30.
            files, on_progress, on_stdout, on_stderr, cancel: as in `Client.run_python()`.

        Returns:
            The result. If CODE has ended the session, its `session_alive` is False.

        Raises:
            CallRefused: nothing was run, as the session has ended, an argument does not fit or the server is busy.
            TypeError: CODE or one of FILES is of another type.
            ConnectionLost, ProtocolError, CallTimeout, CallCancelled.
        """
        with self._lock:
            failed = self._begin(on_progress, cancel)
            if failed:
                return failed
            if are_many(files):
                self._client._ship(files, self._first["environment"], self._first["environment_definition"],
                                  self._directory, cancel)
                files = None
            return self._client.run_python(code, timeout=timeout, files=files, session=self.handle,
                                           on_progress=on_progress, on_stdout=on_stdout, on_stderr=on_stderr,
                                           cancel=cancel)

    def fork(self) -> Session:
        """A copy of this session, to be closed like any other: it begins with the variables of now, in the same working
        directory, and leaves this one as it is. The first session takes its copies along when it ends.

        Raises ToolError if there is none; its message says why."""
        with self._lock:
            failed = self._begin(None, None)
            if failed:
                raise ToolError(failed.text, failed)
            made = self._client.run_python("", fork=self.handle).check()
        copy = Session(self._client, **self._first)
        copy.handle, copy._directory = made.session, made.working_directory
        return copy

    def restart(self) -> None:
        """Gives the session a new Python: the variables are gone, files stay. Raises ToolError if it has ended."""
        if self.handle:
            self._client.call_tool("manage_sessions", {"action": "restart", "session": self.handle}).check()

    def close(self) -> None:
        """Ends the session. It is no error if it has ended already."""
        if self.handle:
            self._client.call_tool("manage_sessions", {"action": "close", "session": self.handle})

    def _begin(self, on_progress: Optional[OnProgress], cancel: Optional[threading.Event]) -> Optional[Result]:
        """Begins the session unless it has begun: alone, so that its name is known even if the first cell is cancelled.
        Returns the result if it cannot begin."""
        if self.handle:
            return None
        begun = self._client.run_python("", session="new", on_progress=on_progress, cancel=cancel, **self._first)
        self.handle, self._directory = begun.session, begun.working_directory
        return None if self.handle else begun
