"""A transport of one JSON message per line: over a pair of binary streams."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
from typing import IO, Optional

from .connection import Connection, Message, Transport
from .errors import ConnectionLost

MESSAGE_BYTES = 4 << 20  # the server reads no longer ones


def log_info(text: str, *arguments: object) -> None:
    """For the program's log. In a program that has not imported logging, which takes long, nobody listens."""
    logging = sys.modules.get("logging")
    if logging:
        logging.getLogger("pyexecd").info(text, *arguments)


def encoded(message: Message) -> bytes:
    """MESSAGE as JSON in UTF-8, without a line break; paths become text. Raises ValueError if it is too long, and
    that or TypeError if it has no such form."""
    data = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=os.fspath).encode()
    if len(data) > MESSAGE_BYTES:
        raise ValueError(f"the call has {len(data)} bytes, the limit is {MESSAGE_BYTES}")
    return data


class Lines(Transport):
    """Has a thread that reads and one that writes, so that neither side waits for the other."""

    def __init__(self) -> None:
        self._outgoing: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._reader: Optional[threading.Thread] = None
        self._writer: Optional[threading.Thread] = None

    def _begin(self, connection: Connection, source: IO[bytes], sink: IO[bytes]) -> None:
        """Reads lines of SOURCE and writes to SINK, which is closed behind the last message."""
        self._reader = threading.Thread(target=self._read, args=(connection, source), daemon=True)
        self._writer = threading.Thread(target=self._write, args=(sink,), daemon=True)
        self._reader.start()
        self._writer.start()

    def send(self, message: Message) -> None:
        self._outgoing.put(encoded(message) + b"\n")

    def _finish_writing(self) -> None:
        self._outgoing.put(None)

    def _ended(self) -> ConnectionLost:
        """Why there is nothing more to read. Called once, by the thread that reads."""
        raise NotImplementedError

    def _read(self, connection: Connection, source: IO[bytes]) -> None:
        """What is no message ends the connection, too: who waits must hear of it."""
        try:
            for line in source:
                connection.receive(json.loads(line))
        except Exception as error:
            log_info("the server's output ends: %s: %s", type(error).__name__, error)
        finally:
            self._finish_writing()
            ended = self._ended()
            connection.lose(str(ended), type(ended))

    def _write(self, sink: IO[bytes]) -> None:
        """A server that no longer reads is noticed where it is read from."""
        with contextlib.suppress(OSError):
            for data in iter(self._outgoing.get, None):
                sink.write(data)
                sink.flush()
        with contextlib.suppress(OSError):
            sink.close()
