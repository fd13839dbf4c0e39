"""A server that is reached over HTTP (MCP's Streamable HTTP, in a session)."""

from __future__ import annotations

import contextlib
import http.client
import json
import select
import socket
import threading
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple
from urllib.parse import unquote, urlsplit

from .connection import Connection, Message, Transport
from .errors import ConnectionLost, ProtocolError, PyexecdError
from .lines import encoded
from .stream import CONNECT_SECONDS, connected

CONNECTIONS = 24  # for requests; the server accepts 32 of one client
IDLE_SECONDS = 20.0  # the server closes an idle connection after 60 s
TRIES = 5  # to take up a stream of events again
RETRY_SECONDS = 0.5
TELLING_TRIES = 20  # while the server has no place for another connection
CLOSE_SECONDS = 5.0


class Event(NamedTuple):
    """One server-sent event."""

    id: str
    data: str


class UnixHTTPConnection(http.client.HTTPConnection):
    """HTTP over the unix socket at PATH. SECONDS are as those of the other kinds."""

    def __init__(self, path: str, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._seconds = seconds
        self._path = path

    def connect(self) -> None:
        self.sock = connected(self._path, self._seconds)


class Web(Transport):
    """URL is http://..., https://... or unix:///path#/mcp.

    Each request has a thread and a connection while it waits."""

    def __init__(self, url: str, token: Optional[str]) -> None:
        self._url = urlsplit(url)
        self._target = unquote(self._url.fragment) if self._url.scheme == "unix" else self._url.path or "/mcp"
        self._fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if token:
            self._fields["Authorization"] = f"Bearer {token}"
        self._connection: Optional[Connection] = None
        self._places = threading.BoundedSemaphore(CONNECTIONS)
        self._lock = threading.RLock()
        self._idle: List[Tuple[float, http.client.HTTPConnection]] = []
        # With their sockets: a connection forgets its own as soon as an answer says that it is the last one.
        self._open: Dict[http.client.HTTPConnection, socket.socket] = {}
        self._used: Dict[int, socket.socket] = {}  # by the number of the request that waits there
        self._closed = False

    def start(self, connection: Connection) -> None:
        self._connection = connection

    def send(self, message: Message) -> None:
        body = encoded(message)
        target = self._request if "method" in message and "id" in message else self._tell
        threading.Thread(target=target, args=(message, body), daemon=True).start()

    def agree(self, version: str) -> None:
        self._fields["MCP-Protocol-Version"] = version

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
        with contextlib.suppress(OSError, http.client.HTTPException):
            if "Mcp-Session-Id" in self._fields:
                self._leave()
        with self._lock:
            for used in self._open.values():
                with contextlib.suppress(OSError):  # Wakes the thread that reads from it.
                    used.shutdown(socket.SHUT_RDWR)
            while self._idle:
                self._idle.pop()[1].close()

    def _leave(self) -> None:
        """Ends the session. At the end of an interpreter no thread can be started, so this one does it."""
        link = self._new_link(CLOSE_SECONDS)
        try:
            link.request("DELETE", self._target, headers=self._fields)
            link.getresponse().read()
        finally:
            link.close()

    # A notification or a reply

    def _tell(self, message: Message, body: bytes) -> None:
        """Also where the server has no place for it: a request that is cancelled gives its own back first."""
        self._let_go(message.get("params", {}).get("requestId"))
        with contextlib.suppress(OSError, http.client.HTTPException):
            for _ in range(TELLING_TRIES):
                with self._link() as link:
                    link.request("POST", self._target, body, self._fields)
                    response = link.getresponse()
                    response.read()
                if response.status != 503:
                    break
                time.sleep(RETRY_SECONDS)

    def _let_go(self, number: Optional[int]) -> None:
        """Nobody reads the answer to request NUMBER any more."""
        with self._lock, contextlib.suppress(OSError):
            if number in self._used:
                self._used[number].shutdown(socket.SHUT_RDWR)

    # A request

    def _request(self, message: Message, body: bytes) -> None:
        """Runs in a thread of its own until the request is answered, or fails."""
        assert self._connection
        number = message["id"]
        try:
            with self._places:
                if self._connection.awaits(number):
                    self._exchange(number, body)
            error: PyexecdError = ConnectionLost("the server has ended its answer too early")
        except PyexecdError as refused:
            error = refused
        except Exception as failed:  # also of an answer that is no message; who waits must hear of it
            error = ConnectionLost(f"{self._url.geturl()}: {failed or type(failed).__name__}")
        self._connection.fail(number, error)

    def _exchange(self, number: int, body: bytes) -> None:
        last = self._post(number, body)
        tries = TRIES
        while tries and last and self._awaits(number):
            time.sleep(RETRY_SECONDS)
            before = last
            with contextlib.suppress(OSError, http.client.HTTPException):
                last = self._take_up(number, last)
            tries = tries - 1 if last == before else TRIES

    def _post(self, number: int, body: bytes) -> str:
        """Returns the id of the last event if the answer was broken off, else nothing."""
        last = [""]
        try:
            with self._link() as link, self._use(number, link.sock):
                link.request("POST", self._target, body, self._fields)
                self._read(link.getresponse(), number, last)
        except (OSError, http.client.HTTPException):
            if not last[0] or not self._awaits(number):
                raise
        return last[0]

    @contextlib.contextmanager
    def _use(self, number: int, used: socket.socket) -> Iterator[None]:
        with self._lock:
            self._used[number] = used
        try:
            yield
        finally:
            with self._lock:
                del self._used[number]

    def _take_up(self, number: int, last: str) -> str:
        """Goes on with a stream behind event LAST; returns the id of the newest one."""
        seen = [last]
        with contextlib.suppress(OSError, http.client.HTTPException), self._link() as link:
            link.request("GET", self._target, headers={**self._fields, "Last-Event-ID": last})
            self._read(link.getresponse(), number, seen)
        return seen[0]

    def _read(self, response: http.client.HTTPResponse, number: int, last: List[str]) -> None:
        """Hands on all messages of RESPONSE. LAST gets the ids of its events."""
        assert self._connection
        if response.status == 404 and "Mcp-Session-Id" not in self._fields:
            raise ConnectionLost(f"there is no MCP server at {self._url.geturl()}: {response.reason}")
        if response.status != 200:
            raise _refusal(response)
        if response.getheader("Mcp-Session-Id"):
            self._fields["Mcp-Session-Id"] = str(response.getheader("Mcp-Session-Id"))
        if not str(response.getheader("Content-Type")).startswith("text/event-stream"):
            self._connection.receive(json.loads(response.read()))
            return
        for event in _events(response):
            last[0] = event.id or last[0]
            if event.data:
                self._connection.receive(json.loads(event.data))

    def _awaits(self, number: int) -> bool:
        return self._connection is not None and not self._closed and self._connection.awaits(number)

    # Connections

    @contextlib.contextmanager
    def _link(self) -> Iterator[http.client.HTTPConnection]:
        """A connection, for one request. It is kept if its answer has been read to the end."""
        link = self._idle_link() or self._new_link(CONNECT_SECONDS)
        try:
            # Waiting for an answer takes as long as it takes: only connecting has a limit.
            link.sock.settimeout(None)
            with self._lock:
                if self._closed:
                    raise ConnectionResetError("the client is closed")
                self._open[link] = link.sock
            yield link
        except BaseException:
            link.close()
            raise
        finally:
            self._put_back(link)

    def _put_back(self, link: http.client.HTTPConnection) -> None:
        with self._lock:
            self._open.pop(link, None)
            if link.sock is not None and not self._closed:
                self._idle.append((time.monotonic(), link))
            else:
                link.close()

    def _idle_link(self) -> Optional[http.client.HTTPConnection]:
        with self._lock:
            while self._idle:
                since, link = self._idle.pop()
                if not _has_ended(link) and time.monotonic() - since < IDLE_SECONDS:
                    return link
                link.close()
        return None

    def _new_link(self, seconds: float) -> http.client.HTTPConnection:
        """SECONDS bound the connecting, and each wait for the other side."""
        url = self._url
        if url.scheme == "unix":
            link: http.client.HTTPConnection = UnixHTTPConnection(unquote(url.path), seconds)
        else:
            kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
            link = kind(url.hostname or "", url.port, timeout=seconds)
        link.connect()
        return link


def _has_ended(link: http.client.HTTPConnection) -> bool:
    """Whether there is something to read on an idle LINK: its end. Not by select(), which knows 1024 descriptors."""
    poll = select.poll()
    poll.register(link.sock, select.POLLIN)
    return bool(poll.poll(0))


def _refusal(response: http.client.HTTPResponse) -> PyexecdError:
    """The error that an answer with another status than 200 is."""
    text = response.read().decode("utf-8", "replace")
    error: Dict[str, Any] = {}
    with contextlib.suppress(ValueError, AttributeError):
        error = json.loads(text).get("error", {})
    reason = error.get("message") or text.strip() or response.reason
    if response.getheader("Retry-After"):
        reason += f" (Retry-After: {response.getheader('Retry-After')})"
    if response.status == 404:
        return ConnectionLost(f"the server does not know this session any more: {reason}")
    return ProtocolError(f"HTTP status {response.status}: {reason}", error.get("code", 0), error.get("data"))


def _events(response: http.client.HTTPResponse) -> Iterator[Event]:
    name, data = "", []
    for raw in response:
        line = raw.decode("utf-8").rstrip("\r\n")
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "id":
            name = value
        elif field == "data":
            data.append(value)
        elif not line:
            yield Event(name, "\n".join(data))
            name, data = "", []
