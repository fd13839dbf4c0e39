"""What the runs of both clients that have many of them share: the program for an input, when it may begin, and the
result of a run that was not made."""

from __future__ import annotations

import dataclasses
import heapq
import json
import operator
import os
import re
import time
from typing import Any, Iterable, Iterator, List, Optional, Tuple

from .errors import CallTimeout, PyexecdError
from .results import Result, run_result

MOST_PARALLEL = 32  # by default; a server lets as many wait for one client
RISE_SECONDS = 1.0  # until one run more goes at a time again
REFUSED_SECONDS = 120.0  # a run is tried again, while none is taken

# How the server, or a proxy before it, says that the same call may be taken later, and when.
BUSY = re.compile(r"(the server is|all machines of the environment are) busy\b|too many calls: |Busy: |"
                  r"HTTP status (429|503): ")
AGAIN = re.compile(r"try again in (\d+) s\b|\(Retry-After: (\d+)\)$")

# The call stands behind the program, so that the numbers of its lines stay. Its own line is left out of a traceback.
# A program that ends with a hook of its own ends slowly, so the former one is put back.
CALL = """

import json as _json
import sys as _sys
def _show(_kind, _error, _trace, _next=_sys.excepthook, _own=_sys._getframe()):
    if _trace and _trace.tb_frame is _own:
        _error = _error.with_traceback(_trace.tb_next)
    _next(_kind, _error, _error.__traceback__)
_sys.excepthook = _show
_value = main(_json.loads({text}))
if _value is not None:
    print(_json.dumps(_value))
_sys.excepthook = _show.__defaults__[0]
"""

FENCED = re.compile(r"\s*(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<code>.*?)\n?(?P=fence)\s*", re.DOTALL)


def programs_for(code: str, inputs: Iterable[Any]) -> Iterator[str]:
    """A program for each of INPUTS: CODE, and a call of its `main`. Raises ValueError if it has none."""
    if not isinstance(code, str):
        raise TypeError(f"code must be str, not {type(code).__name__}")
    if re.fullmatch(r"\S+\.py", code) or not re.search(r"\bmain\b", code):
        raise ValueError("code must define main(input), which is called with each input; it is text, not a path")
    if re.search(r"^async\s+def\s+main\b", code, re.MULTILINE) and not re.search(r"^def\s+main\b", code, re.MULTILINE):
        raise ValueError("main must be a plain function; it may call asyncio.run()")
    fenced = FENCED.fullmatch(code)
    program = "\n" * code.count("\n", 0, fenced.start("code")) + fenced["code"] if fenced else code
    return (program + CALL.format(text=json.dumps(input_text(index, each))) for index, each in enumerate(inputs))


def input_text(index: int, value: Any) -> str:
    """VALUE, the input with INDEX, as JSON."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise type(error)(f"input {index}: {error}") from None


class NumberedPrograms:
    """An iterator over programs and their indices. An error among them is raised by `conclude()` only: what was begun
    before comes first."""

    def __init__(self, programs: Iterable[str]) -> None:
        if isinstance(programs, str):
            raise TypeError("programs must be a list, or another iterable of programs, not one str")
        self._programs = enumerate(programs)
        self._error: Optional[Exception] = None

    def __iter__(self) -> Iterator[Tuple[int, str]]:
        return self

    def __next__(self) -> Tuple[int, str]:
        try:
            index, program = next(self._programs)
            if not isinstance(program, str):
                raise TypeError(f"program {index} must be str, not {type(program).__name__}")
            return index, program
        except StopIteration:
            raise
        except Exception as error:
            self._error = error
            raise StopIteration from None

    def conclude(self) -> None:
        if self._error:
            raise self._error


def chosen_parallel(parallel: Optional[int]) -> int:
    """How many run at a time. Raises ValueError if that is none, and TypeError if PARALLEL is no number of them."""
    if parallel is None:
        return min(MOST_PARALLEL, os.cpu_count() or 1)
    try:
        parallel = operator.index(parallel)
    except TypeError:
        raise TypeError(f"parallel must be int, not {type(parallel).__name__}") from None
    if parallel < 1:
        raise ValueError(f"parallel is {parallel}, and must be at least 1")
    return parallel


def failed(error: Exception) -> Result:
    """The result of a run that ERROR is all that came of."""
    result = run_result({"content": [{"type": "text", "text": str(error)}], "isError": True})
    return dataclasses.replace(result, status="timeout") if isinstance(error, CallTimeout) else result


class Programs:
    """The programs of many runs, and when the next may begin: as soon as there is a place for it.

    A run that the server refuses because it is busy, or because its client makes too many calls, is no failure: its
    program is tried again. Fewer go at a time from then on, and one more each second."""

    def __init__(self, programs: Iterable[str], parallel: Optional[int]) -> None:
        self._programs = NumberedPrograms(programs)
        self._parallel = chosen_parallel(parallel)
        self._most = self._parallel  # at a time now
        self._rise = 0.0  # when there may be one more
        self._again: List[Tuple[int, str]] = []  # a heap
        self._are_taken = False  # all, though some may have to go again
        self._refused: Optional[float] = None  # since when no run has been taken, while none goes

    def next(self, going: int) -> Optional[Tuple[int, str]]:
        """The next program to begin beside GOING runs, and its index. None: there is none left, or no place for it."""
        if self._most < self._parallel and time.monotonic() >= self._rise:
            self._most += 1
            self._rise = time.monotonic() + RISE_SECONDS
        if going >= self._most:
            return None
        if self._again:
            return heapq.heappop(self._again)
        found = next(self._programs, None)
        self._are_taken = found is None
        return found

    def seconds_until_place(self) -> Optional[float]:
        """The seconds until `next()` has a place for one more. None: until another run has ended."""
        return max(0.0, self._rise - time.monotonic()) if self._most < self._parallel else None

    def are_over(self) -> bool:
        """Whether there is none left for `next()`."""
        return self._are_taken and not self._again

    def conclude(self) -> None:
        """Raises the error that the programs have ended with, if they have."""
        self._programs.conclude()

    def keeps(self, index: int, program: str, result: Result, going: int) -> bool:
        """Whether PROGRAM is tried again, because RESULT says that the server had no place for it beside the GOING."""
        seconds = _seconds_until_again(result)
        now = time.monotonic()
        if seconds is None or going:
            self._refused = None
        elif self._refused is None:
            self._refused = now
        if seconds is None:
            return False
        self._most, self._rise = going, now + seconds
        if self._refused is not None and now - self._refused > REFUSED_SECONDS:
            return False
        heapq.heappush(self._again, (index, program))
        return True


def _seconds_until_again(result: Result) -> Optional[float]:
    """How long to wait before what RESULT refuses is tried again. None: it is no such refusal."""
    if result.status != "refused" or not BUSY.match(result.text):
        return None
    named = AGAIN.search(result.text)
    return min(float(named[1] or named[2]), REFUSED_SECONDS) if named else RISE_SECONDS
