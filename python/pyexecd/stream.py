"""A server that listens on a unix or TCP socket, with one message per line."""

from __future__ import annotations

import contextlib
import socket
from typing import Optional, Tuple, Union

from .connection import Connection
from .errors import ConnectionLost
from .lines import Lines

CONNECT_SECONDS = 60.0

Address = Union[str, Tuple[str, int]]


def connected(address: Address, seconds: float = CONNECT_SECONDS) -> socket.socket:
    """A socket to ADDRESS: the path of a unix socket, or (host, port). Raises OSError."""
    if not isinstance(address, str):
        return socket.create_connection(address, seconds)
    unix = socket.socket(socket.AF_UNIX)
    try:
        unix.settimeout(seconds)
        unix.connect(address)
    except OSError:
        unix.close()
        raise
    return unix


class Stream(Lines):
    """TOKEN is the first line that a server with tokens wants over TCP."""

    def __init__(self, address: Address, token: Optional[str]) -> None:
        super().__init__()
        self._address = address
        self._token = token
        self._socket: Optional[socket.socket] = None

    def start(self, connection: Connection) -> None:
        try:
            self._socket = connected(self._address)
        except OSError as error:
            raise ConnectionLost(f"cannot connect to {self._name()}: {error}") from error
        self._socket.settimeout(None)
        if self._token:
            self._outgoing.put(f"Authorization: Bearer {self._token}\n".encode())
        self._begin(connection, self._socket.makefile("rb"), self._socket.makefile("wb"))

    def close(self) -> None:
        self._finish_writing()
        if self._writer:
            self._writer.join(1)
        if self._socket:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()

    def _name(self) -> str:
        return self._address if isinstance(self._address, str) else "%s:%d" % self._address

    def _ended(self) -> ConnectionLost:
        return ConnectionLost(f"the server at {self._name()} has closed the connection")
