"""A client for tests: starts the program, speaks lines with it, and is strict about all of them.

    with Server() as server:                       # over stdio; also "unix", "tcp" and "http"
        server.initialize("2025-11-25")            # any revision, the stateless one too
        result = server.call_tool("run_python", {"code": "print(1)"})

`Server` is the program and its first connection; `connect()` opens further ones on a socket. Every
message received is checked against the schema of its revision (wire.py). Leaving the `with` block
ends the program as a well-behaved client would and fails the test unless it exits with 0 in time.

Requests ask for structured results, unless `connection.results` is set to another form, or to None:
then they do not say.
"""

import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import http_peer
import ports
import wire

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", wire.MODERN]
PREFIX = "io.modelcontextprotocol/"
RESULTS = "pyexecd/results"  # in `_meta`: the form of results that a request asks for
STRUCTURED = {RESULTS: "structured"}
RESULT = "pyexecd/result"  # in `_meta` of a result: its structured form, where a revision has no other place for it
NEWS = "notifications/tools/list_changed"
CLIENT_INFO = {"name": "test", "version": "1"}

TIMEOUT = 60  # seconds an answer may take; generous, for sanitizers on a busy machine
START_TIMEOUT = 60
STOP_TIMEOUT = 60


def given_time(run, tries=5):
    """What RUN() returns, the result of a script that gives in to its timeout. It has half a second for
    that, which a busy machine does not always leave it: then it is run again."""
    for _ in range(tries):
        result = run()
        structured = result.get("structuredContent", result)
        assert structured["timed_out"], result
        if structured["signal"] != "SIGKILL":
            break
    return result


def with_more_time(run, shows, seconds=(1, 3, 9, 27)):
    """What RUN(TIMEOUT) returns, the result of a script that has to get somewhere before its timeout, as SHOWS(the
    result) says. A busy machine does not always let it in the first of SECONDS: then it has the next."""
    for timeout in seconds:
        result = run(timeout)
        if shows(result):
            break
    return result


def on_nodes(config):
    """CONFIG with its environments on nodes of this machine, as in the stage of tests/nodes.txt."""
    environments = config.get("environments", {"system": {"type": "system"}})
    nodes = {"contract": {"launcher": [os.environ["PYEXECD"], "node"], "most": 16, "idle": 60, "files": os.environ["ON_NODES"]}}
    return {**config, "nodes": {**nodes, **config.get("nodes", {})},
            "environments": {name: {"node": "contract", **definition} if definition.get("type") in ("system", "venv") else definition
                             for name, definition in environments.items()}}


class RpcError(Exception):
    """A JSON-RPC error as answer to a request."""

    def __init__(self, error):
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code = error.get("code")
        self.message = error.get("message")
        self.data = error.get("data")


def modern_meta(**more):
    """The _meta of a request that stands alone; MORE are members without prefix."""
    return {PREFIX + "protocolVersion": wire.MODERN, PREFIX + "clientCapabilities": {},
            PREFIX + "clientInfo": CLIENT_INFO, **more}


class Connection:
    """One peer of the server, over a pair of descriptors; or over HTTP, where each message has a
    connection of its own (`http`, an http_peer.Peer)."""

    def __init__(self, read_fd, write_fd, close, http=None):
        self.http = http
        self.read_fd = read_fd
        self.write_fd = write_fd
        self._close = close
        self._finish_writing = None
        self.buffer = bytearray()
        self.ended = False  # end of file was read
        self.wire = wire.Wire()
        self.results = "structured"
        self.revision = None
        self.capabilities = {}  # of this client
        self.next_id = 0
        self.notifications = []  # received so far, oldest first
        self.responses = {}  # received and not asked for yet, by id as JSON text

    # Lines

    def send_bytes(self, data, timeout=TIMEOUT):
        """Writes DATA as it is, reading meanwhile so that neither side waits for the other."""
        deadline = time.monotonic() + timeout
        view = memoryview(data)
        while view:
            readable = [] if self.ended else [self.read_fd]
            ready, writable, _ = select.select(readable, [self.write_fd], [],
                                               max(0, deadline - time.monotonic()))
            if ready:
                self._read_some()
            if writable:
                view = view[os.write(self.write_fd, view[:65536]):]
            elif not ready:
                raise TimeoutError(f"{len(view)} bytes could not be sent in {timeout} s")

    def send_line(self, line, timeout=TIMEOUT):
        """Sends LINE (str or bytes) and a newline, whatever it is."""
        data = line.encode() if isinstance(line, str) else line
        try:
            self.wire.sent(json.loads(data))
        except (ValueError, RecursionError):
            pass
        if self.http:
            self.http.send(data)
        else:
            self.send_bytes(data + b"\n", timeout)

    def _read_some(self):
        try:
            data = os.read(self.read_fd, 1 << 20)
        except ConnectionResetError:
            data = b""
        if not data:
            self.ended = True
        self.buffer += data

    def receive_line(self, timeout=TIMEOUT):
        """The next line without its newline; TimeoutError, or EOFError at the end."""
        deadline = time.monotonic() + timeout
        searched = 0
        while (end := self.buffer.find(b"\n", searched)) < 0:
            searched = len(self.buffer)
            if self.ended:
                raise EOFError(f"the server closed the connection; left over: "
                               f"{bytes(self.buffer[:200])!r}")
            ready, _, _ = select.select([self.read_fd], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no message in {timeout} s")
            self._read_some()
        line = bytes(self.buffer[:end])
        del self.buffer[:end + 1]
        return line

    # Messages

    def send(self, message):
        self.send_line(json.dumps(message))

    def receive_any(self, timeout=TIMEOUT):
        """The next message of any kind, checked. It is not kept anywhere."""
        if self.http:
            message = self.http.receive(timeout)
        else:
            message = json.loads(self.receive_line(timeout).decode("utf-8", "strict"))
        self.wire.received(message)
        return message

    def receive(self, timeout=TIMEOUT):
        """The next message but the news of tools, which is kept with the notifications: a server tells
        it whenever it has asked its Pythons for their packages."""
        deadline = time.monotonic() + timeout
        while (message := self.receive_any(max(0, deadline - time.monotonic()))).get("method") == NEWS:
            self.notifications.append(message)
        return message

    def assert_silent(self, seconds):
        """Nothing arrives for SECONDS, but for the news of tools."""
        try:
            message = self.receive(seconds)
        except TimeoutError:
            return
        raise AssertionError(f"unexpected message: {json.dumps(message)[:2000]}")

    def _params(self, method, params):
        if self.results and method in ("tools/call", "tools/list"):
            params = dict(params or {})
            params["_meta"] = {RESULTS: self.results, **params.get("_meta", {})}
        if self.revision != wire.MODERN:
            return params
        params = dict(params or {})
        params["_meta"] = {**modern_meta(**params.get("_meta", {})),
                           PREFIX + "clientCapabilities": self.capabilities}
        return params

    def start_request(self, method, params=None, request_id=None):
        """Sends a request and returns its id; `wait` gets the answer."""
        if request_id is None:
            request_id = self.next_id
            self.next_id += 1
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        params = self._params(method, params)
        if params is not None:
            message["params"] = params
        self.send(message)
        return request_id

    def wait(self, request_id, timeout=TIMEOUT):
        """The response to REQUEST_ID; notifications and other responses on the way are kept."""
        key = json.dumps(request_id)
        deadline = time.monotonic() + timeout
        while key not in self.responses:
            message = self.receive(max(0, deadline - time.monotonic()))
            if "method" in message:
                self.notifications.append(message)
            elif message["id"] is None:
                raise AssertionError(f"the server could not read a message: {message}")
            else:
                self.responses[json.dumps(message["id"])] = message
        return self.responses.pop(key)

    def request(self, method, params=None, timeout=TIMEOUT):
        """The result of METHOD; raises RpcError."""
        response = self.wait(self.start_request(method, params), timeout)
        if "error" in response:
            raise RpcError(response["error"])
        return response["result"]

    def notify(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    def initialize(self, revision=wire.NEWEST_LEGACY, capabilities=None):
        """The handshake of REVISION; for the stateless one, `server/discover`."""
        self.capabilities = capabilities or {}
        if revision == wire.MODERN:
            self.revision = revision
            return self.request("server/discover")
        result = self.request("initialize", {"protocolVersion": revision,
                                             "capabilities": self.capabilities,
                                             "clientInfo": CLIENT_INFO})
        assert result["protocolVersion"] == revision
        self.revision = revision
        if self.http:
            self.http.version = revision
        self.notify("notifications/initialized")
        return result

    # Tools

    def list_tools(self):
        return self.request("tools/list")["tools"]

    def find_tool(self, name="run_python"):
        """The tool NAME as it is listed."""
        (tool,) = [tool for tool in self.list_tools() if tool["name"] == name]
        return tool

    def start_tool(self, name, arguments=None, progress_token=None):
        """Calls a tool without waiting; returns the request's id."""
        params = {"name": name}
        if arguments is not None:
            params["arguments"] = arguments
        if progress_token is not None:
            params["_meta"] = {"progressToken": progress_token}
        return self.start_request("tools/call", params)

    def call_tool(self, name, arguments=None, progress_token=None, timeout=TIMEOUT):
        """The result of a tool call, `isError` ones too; raises RpcError."""
        response = self.wait(self.start_tool(name, arguments, progress_token), timeout)
        if "error" in response:
            raise RpcError(response["error"])
        return response["result"]

    def cancel(self, request_id):
        self.notify("notifications/cancelled", {"requestId": request_id})

    def progress(self, token):
        """The progress notifications received so far for TOKEN: their params, oldest first."""
        return [message["params"] for message in self.notifications
                if message["method"] == "notifications/progress"
                and message["params"]["progressToken"] == token]

    # The end

    def finish_writing(self):
        """End of file towards the server; its answers can still be read."""
        self._finish_writing()

    def close(self):
        self._close()


def _socket_connection(stream):
    connection = Connection(stream.fileno(), stream.fileno(), stream.close)
    connection._finish_writing = lambda: stream.shutdown(socket.SHUT_WR)
    return connection


def _http_connection(peer):
    return Connection(None, None, peer.close, peer)


class Server(Connection):
    """The program, started for one test, and the first connection to it.

    CONFIG is the configuration as Python data; but for stdio the address is added, to those in it
    for TCP and HTTP, and there also `auth: none` where it names no token. COMMAND replaces the
    program under test ($PYEXECD).
    """

    def __init__(self, *arguments, transport="stdio", config=None, environment=None, command=None):
        self.transport = transport
        self.config = dict(config or {})
        self.arguments = list(arguments)
        self.command = command or [os.environ["PYEXECD"]]
        self.environment = {**os.environ, **(environment or {})}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pyexecd-test-"))
        self.process = None
        self.token = None
        try:
            self._start()
        except BaseException:
            self.kill()
            raise

    def _start(self):
        stdio = self.transport == "stdio"
        self._write_config()
        self.stderr_path = self.folder / "stderr"
        with open(self.stderr_path, "wb") as stderr:
            self.process = subprocess.Popen(
                self.command + self.arguments, env=self.environment, stderr=stderr,
                stdin=subprocess.PIPE if stdio else subprocess.DEVNULL,
                stdout=subprocess.PIPE if stdio else subprocess.DEVNULL, bufsize=0)
        if stdio:
            super().__init__(self.process.stdout.fileno(), self.process.stdin.fileno(),
                             self._close_pipes)
            os.set_blocking(self.write_fd, False)
            self._finish_writing = self.process.stdin.close
        else:
            first = self.connect()
            self.__dict__.update(first.__dict__)

    def _write_config(self):
        if "ON_NODES" in os.environ:
            self.config = on_nodes(self.config)
        if self.transport == "unix":
            self.address = str(self.folder / "socket")
            self.config["listen"] = [f"unix:{self.address}"]
        elif self.transport in ("tcp", "http"):
            self.address = ("127.0.0.1", ports.free_port())
            form = {"tcp": "tcp:127.0.0.1:{}", "http": "http://127.0.0.1:{}/mcp"}[self.transport]
            self.config["listen"] = [*self.config.get("listen", []), form.format(self.address[1])]
            if "token_file" not in self.config and "oauth" not in self.config:
                self.config["auth"] = "none"
            elif "token_file" in self.config:
                self.token = self._read_bare_token()
        if self.config:
            path = self.folder / "config.yaml"
            path.write_text(json.dumps(self.config))  # JSON is YAML
            path.chmod(0o600)
            self.environment["PYEXECD_CONFIG"] = str(path)

    def _read_bare_token(self):
        """None where there is a line for each client: the first connection shows nothing then."""
        text = pathlib.Path(self.config["token_file"]).read_text().strip()
        return None if " " in text else text

    def connect(self):
        """A further connection to a server on a socket."""
        family = socket.AF_UNIX if self.transport == "unix" else socket.AF_INET
        deadline = time.monotonic() + START_TIMEOUT
        while True:
            stream = socket.socket(family)
            try:
                stream.connect(self.address)
                break
            except (FileNotFoundError, ConnectionRefusedError):
                stream.close()
                if self.process.poll() is not None:
                    raise AssertionError(f"the server ended with {self.process.returncode}: "
                                         f"{self.stderr()}") from None
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        if family == socket.AF_INET:
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.transport == "http":
            stream.close()
            return _http_connection(self.http_peer())
        stream.setblocking(False)
        connection = _socket_connection(stream)
        if self.token:
            connection.send_line(f"Authorization: Bearer {self.token}")
        return connection

    def http_peer(self, **more):
        """A further client over HTTP."""
        return http_peer.Peer(http_peer.tcp(self.address), f"127.0.0.1:{self.address[1]}",
                              token=self.token, **more)

    def stderr(self):
        """What the program has written to stderr so far."""
        return self.stderr_path.read_text(errors="replace")

    def _close_pipes(self):
        self.process.stdin.close()
        self.process.stdout.close()

    def wait_exit(self, timeout=STOP_TIMEOUT):
        """The exit code, negative for a signal."""
        return self.process.wait(timeout)

    def stop(self, timeout=STOP_TIMEOUT):
        """Ends the program politely: end of file on stdio, SIGTERM otherwise; its exit code."""
        if self.process.poll() is None:
            if self.transport == "stdio":
                self.process.stdin.close()
                self._drain(timeout)
            else:
                self.process.send_signal(signal.SIGTERM)
        return self.wait_exit(timeout)

    def _drain(self, timeout):
        deadline = time.monotonic() + timeout
        while not self.ended and time.monotonic() < deadline:
            if select.select([self.read_fd], [], [], 0.1)[0]:
                self._read_some()

    def kill(self):
        """Releases everything at once, whatever state it is in."""
        if self.process:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            if hasattr(self, "_close"):
                self.close()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe:
                    pipe.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            code = self.stop()
            if kind is None and code != 0:
                raise AssertionError(f"the server ended with {code}: {self.stderr()}")
        finally:
            self.kill()
