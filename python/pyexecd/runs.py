"""Many runs of the synchronous client, several at a time."""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import Callable, Dict, Generator, Iterable, Iterator, Optional, Tuple

from .errors import CallCancelled, CallTimeout, ProtocolError
from .many import Programs, failed
from .results import Result, run_result
from .waiting import POLL_SECONDS, Ended, Waiting


class Runs:
    """The runs of `Client.map()` or `Client.run_many()`, to be iterated over once.

    Each run has a `Result`, in the order of the programs. Runs that still go at the end of the iteration are cancelled.
    """

    def __init__(self, begin: Callable[[str, Ended], Waiting], programs: Iterable[str], parallel: Optional[int],
                 cancel: Optional[threading.Event]) -> None:
        self._begin = begin
        self._programs = Programs(programs, parallel)
        self._cancel = cancel
        self._going: Dict[Waiting, Tuple[int, str]] = {}  # The one that has to end first comes first.
        self._ended: Ended = queue.SimpleQueue()

    def __iter__(self) -> Iterator[Result]:
        early: Dict[int, Result] = {}
        following = 0
        with contextlib.closing(self.as_completed()) as completed:
            for index, result in completed:
                early[index] = result
                while following in early:
                    yield early.pop(following)
                    following += 1

    def as_completed(self) -> Generator[Tuple[int, Result], None, None]:
        """The results as they come, each behind the index of its program."""
        try:
            while True:
                for index, program in iter(lambda: self._programs.next(len(self._going)), None):
                    try:
                        self._going[self._begin(program, self._ended)] = index, program
                    except ValueError as error:  # No server would read it.
                        yield index, failed(error)
                if not self._going and self._programs.are_over():
                    break
                found = self._next()
                if found:
                    yield found
            self._programs.conclude()
        finally:
            for waiting in self._going:
                waiting.close()
            self._going.clear()

    def _next(self) -> Optional[Tuple[int, Result]]:
        """The index and the result of the next run that is over. None: there may be a place for another one before."""
        waiting = self._look()
        if waiting not in self._going:
            return None
        index, program = self._going.pop(waiting)
        try:
            result = run_result(waiting.answer(None))
        except (CallTimeout, ProtocolError) as error:
            result = failed(error)
        finally:
            waiting.close()
        return None if self._programs.keeps(index, program, result, len(self._going)) else (index, result)

    def _look(self) -> Optional[Waiting]:
        """A run that is over, perhaps since long. None: none is before the next look."""
        if self._cancel and self._cancel.is_set():
            raise CallCancelled("the call was cancelled")
        first = next(iter(self._going), None)
        waits = (first.patience(self._cancel) if first else POLL_SECONDS, self._programs.seconds_until_place())
        try:
            return self._ended.get(timeout=min((wait for wait in waits if wait is not None), default=None))
        except queue.Empty:
            return first if first and first.is_late() else None
