"""JSON-RPC over a transport: which answer belongs to which request, progress, cancelling, and the end.

A `Connection` is used from any thread. What happens to a request is told to the function that came with it, from a
thread of the transport; that function must not block.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Callable, Mapping, NamedTuple, Optional, Type, Union

from .errors import ConnectionLost, ProtocolError, PyexecdError

PROTOCOL_VERSION = "2025-11-25"
METHOD_NOT_FOUND = -32601
OUTPUT = "pyexecd/output"  # in `_meta`: a call wants its output as it comes, and a piece of that

Message = Mapping[str, Any]


class Progress(NamedTuple):
    """News of a request that is not answered yet."""

    message: str


class Output(NamedTuple):
    """A piece of what the program of a call has printed. OFFSET and LENGTH count bytes of the stream."""

    stream: str
    offset: int
    length: int
    text: str


Event = Union[Progress, Output]


class Answer(NamedTuple):
    """The end of a request: its result, or the error to raise."""

    result: Any
    error: Optional[PyexecdError]


Deliver = Callable[[Union[Event, Answer]], None]


class Transport:
    """Carries messages to a server and back; the base of all kinds."""

    def start(self, connection: Connection) -> None:
        """Connects. From then on messages go to `connection.receive()`, and the end to `connection.lose()`, once.

        Raises ConnectionLost."""
        raise NotImplementedError

    def send(self, message: Message) -> None:
        """Sends MESSAGE, without waiting for it to be sent. Raises ValueError if no server would read it."""
        raise NotImplementedError

    def agree(self, version: str) -> None:
        """The handshake has ended with the protocol revision VERSION."""

    def close(self) -> None:
        """Ends the connection, and a server that was started for it. May be called twice."""
        raise NotImplementedError


class Call:
    """A request that was sent. CONNECTION is borrowed."""

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection = connection
        self._number = number

    def cancel(self) -> None:
        """Tells the server to stop, if it has not answered yet. Nothing more is delivered."""
        self._connection.cancel(self._number)


class Connection:
    """Requests of one client to one server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        # Reentrant: a forgotten client may be collected, and closed, at any point.
        self._lock = threading.RLock()
        self._waiting: dict[int, Deliver] = {}
        self._last_number = 0
        self._lost: Optional[str] = None
        self._lost_kind: Type[ConnectionLost] = ConnectionLost
        self._owner = os.getpid()

    def start(self) -> None:
        """Connects. Raises ConnectionLost."""
        self._transport.start(self)

    def request(self, method: str, params: Mapping[str, Any], deliver: Deliver) -> Call:
        """Sends a request. DELIVER gets any number of events, then one Answer.

        Raises ConnectionLost, or ValueError if PARAMS cannot be sent."""
        if self._owner != os.getpid():
            raise ConnectionLost("this client belongs to the process that was forked; make another one")
        with self._lock:
            if self._lost is not None:
                raise self._lost_kind(self._lost)
            self._last_number += 1
            number = self._last_number
            self._waiting[number] = deliver
        meta = {**params.get("_meta", {}), "progressToken": number}
        try:
            self._transport.send({"jsonrpc": "2.0", "id": number, "method": method,
                                  "params": {**params, "_meta": meta}})
        except BaseException:
            self._forget(number)
            raise
        return Call(self, number)

    def agree(self, version: str) -> None:
        """The server has answered `initialize` with VERSION."""
        self._transport.agree(version)
        self._transport.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def cancel(self, number: int) -> None:
        """Cancels request NUMBER, unless it has been answered."""
        if self._forget(number) and self._lost is None:
            self._transport.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                                  "params": {"requestId": number, "reason": "the client does not wait any longer"}})

    def close(self) -> None:
        """Ends the connection, and with it all that is waited for. May be called twice."""
        if self._owner != os.getpid():
            return  # A fork of the process that has opened it.
        self.lose("the client is closed")
        self._transport.close()

    # For transports

    def awaits(self, number: int) -> bool:
        """Whether somebody still waits for the answer to request NUMBER."""
        return number in self._waiting

    def receive(self, message: Any) -> None:
        """A message of the server has come."""
        if not isinstance(message, dict):
            return
        if "method" not in message:
            self._receive_answer(message)
        elif "id" in message:
            self._reply(message)
        elif message["method"] == "notifications/progress":
            self._receive_progress(message.get("params", {}))

    def fail(self, number: int, error: PyexecdError) -> None:
        """Request NUMBER will not be answered, because of ERROR."""
        deliver = self._forget(number)
        if deliver:
            deliver(Answer(None, error))

    def lose(self, reason: str, kind: Type[ConnectionLost] = ConnectionLost) -> None:
        """The connection has ended: so do all requests, with an error of KIND."""
        with self._lock:
            if self._lost is None:
                self._lost, self._lost_kind = reason, kind
            numbers = list(self._waiting)
        for number in numbers:
            self.fail(number, kind(reason))

    def _forget(self, number: Any) -> Optional[Deliver]:
        with self._lock:
            return self._waiting.pop(number, None)

    def _receive_answer(self, message: Message) -> None:
        deliver = self._forget(message.get("id"))
        if not deliver:
            return
        if "error" in message:
            error = message["error"]
            deliver(Answer(None, ProtocolError(error["message"], error["code"], error.get("data"))))
        else:
            deliver(Answer(message.get("result"), None))

    def _receive_progress(self, params: Message) -> None:
        deliver = self._waiting.get(params.get("progressToken", 0))
        piece = params.get("_meta", {}).get(OUTPUT)
        if deliver and piece:
            deliver(Output(piece["stream"], piece["offset"], piece["length"], piece["text"]))
        elif deliver and params.get("message"):
            deliver(Progress(params["message"]))

    def _reply(self, message: Message) -> None:
        """Answers a request of the server. This client declares nothing that it could be asked for."""
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "ping":
            reply["result"] = {}
        else:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": f"no method {message['method']}"}
        self._transport.send(reply)
