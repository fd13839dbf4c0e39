"""Many runs of the asynchronous client, several at a time."""

from __future__ import annotations

import asyncio
from typing import AsyncGenerator, AsyncIterator, Awaitable, Callable, Dict, Iterable, Optional, Tuple

from .errors import CallTimeout, ProtocolError
from .many import Programs, failed
from .results import Result


class AsyncRuns:
    """The runs of `AsyncClient.map()` or `AsyncClient.run_many()`, to be iterated over once with `async for`.

    Each run has a `Result`, in the order of the programs. Runs that still go at the end of the iteration are cancelled.
    """

    def __init__(self, run: Callable[[str], Awaitable[Result]], programs: Iterable[str],
                 parallel: Optional[int]) -> None:
        self._run = run
        self._programs = Programs(programs, parallel)
        self._going: Dict[asyncio.Future[Result], Tuple[int, str]] = {}

    async def __aiter__(self) -> AsyncIterator[Result]:
        early: Dict[int, Result] = {}
        following = 0
        completed = self.as_completed()
        try:
            async for index, result in completed:
                early[index] = result
                while following in early:
                    yield early.pop(following)
                    following += 1
        finally:
            await completed.aclose()

    async def as_completed(self) -> AsyncGenerator[Tuple[int, Result], None]:
        """The results as they come, each behind the index of its program."""
        try:
            while True:
                for index, program in iter(lambda: self._programs.next(len(self._going)), None):
                    self._going[asyncio.ensure_future(self._result(program))] = index, program
                if not self._going and self._programs.are_over():
                    break
                for found in await self._next():
                    yield found
            self._programs.conclude()
        finally:
            for task in self._going:
                task.cancel()
            await asyncio.gather(*self._going, return_exceptions=True)

    async def _result(self, program: str) -> Result:
        try:
            return await self._run(program)
        except (CallTimeout, ProtocolError, ValueError) as error:  # ValueError: no server would read it.
            return failed(error)

    async def _next(self) -> list[Tuple[int, Result]]:
        """The index and the result of each run that is over. None: there may be a place for another one before."""
        seconds = self._programs.seconds_until_place()
        if not self._going:
            await asyncio.sleep(seconds or 0.0)
            return []
        done, _ = await asyncio.wait(self._going, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        ended = sorted((self._going.pop(task), task.result()) for task in done)
        return [(index, result) for (index, program), result in ended
                if not self._programs.keeps(index, program, result, len(self._going))]
