"""A request of the synchronous client, until its answer has come."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from typing import Any, Mapping, Optional, Union

from .connection import Answer, Call, Connection, Event
from .errors import CallCancelled, CallTimeout
from .listener import Listener

POLL_SECONDS = 0.05  # between looks at the event that cancels a call

Ended = queue.SimpleQueue["Waiting"]


class Waiting:
    """A request, and the wait for its answer, which takes at most TIMEOUT seconds from now on. ENDED gets this object
    when the answer has come, from a thread of the transport."""

    def __init__(self, connection: Connection, timeout: Optional[float], listener: Listener,
                 ended: Optional[Ended] = None) -> None:
        self._connection = connection
        self._listener = listener
        self._news: queue.SimpleQueue[Union[Event, Answer]] = queue.SimpleQueue()
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._call: Optional[Call] = None
        self._is_answered = False
        self._ended = ended

    def send(self, method: str, params: Mapping[str, Any]) -> None:
        self._call = self._connection.request(method, params, self._deliver)

    def _deliver(self, event: Union[Event, Answer]) -> None:
        self._news.put(event if isinstance(event, Answer) else self._listener.admit(event))
        if isinstance(event, Answer):
            self._is_answered = True
            if self._ended is not None:
                self._ended.put(self)

    def close(self) -> None:
        """Cancels the request unless it is answered."""
        if self._call:
            with contextlib.suppress(RuntimeError):  # At the end of the interpreter there are no new threads.
                self._call.cancel()

    def answer(self, cancel: Optional[threading.Event]) -> Any:
        """Waits for the answer. Raises its error, CallTimeout or CallCancelled."""
        while True:
            event = self._event(cancel)
            if isinstance(event, Answer):
                if event.error:
                    raise event.error
                self._listener.finish()
                return event.result
            if event:
                self._listener.hear(event)

    def _event(self, cancel: Optional[threading.Event]) -> Union[Event, Answer, None]:
        """The next event. None: it has not come before the next look at CANCEL."""
        if cancel and cancel.is_set():
            raise CallCancelled("the call was cancelled")
        if self.is_late():
            raise CallTimeout("no answer came within the timeout of the client")
        try:
            return self._news.get(timeout=self.patience(cancel))
        except queue.Empty:
            return None

    def is_late(self) -> bool:
        """Whether the answer has not come in its time."""
        return self._deadline is not None and not self._is_answered and self._deadline <= time.monotonic()

    def patience(self, cancel: Optional[threading.Event]) -> Optional[float]:
        """The seconds until the next look at CANCEL or at the deadline. None: there is nothing to look at."""
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        waits = [seconds for seconds in (left, POLL_SECONDS if cancel else None) if seconds is not None]
        return min(waits) if waits else None
