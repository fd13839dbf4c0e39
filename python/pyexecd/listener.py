"""What the caller of a call hears before its answer: progress, and the output as it comes."""

from __future__ import annotations

from typing import Callable, Dict, Optional

from .connection import Event, Output

OnProgress = Callable[[str], object]  # such as list.append or sys.stdout.write
OnOutput = Callable[[str], object]

UNHEARD_CHARACTERS = 1 << 20  # of output that waits for a callback; more is left out


class Listener:
    """The callbacks of one call. `admit()` is for the thread of the transport, the rest for that of the caller."""

    def __init__(self, on_progress: Optional[OnProgress] = None, on_stdout: Optional[OnOutput] = None,
                 on_stderr: Optional[OnOutput] = None) -> None:
        self._on_progress = on_progress
        self._streams: Dict[str, _Stream] = {name: _Stream(callback) for name, callback
                                             in (("stdout", on_stdout), ("stderr", on_stderr)) if callback}
        # Two counts with one writer each, so that no lock is needed.
        self._admitted = 0
        self._heard = 0

    @property
    def wants_output(self) -> bool:
        return bool(self._streams)

    def admit(self, event: Event) -> Event:
        """EVENT, or its frame alone if the callbacks are too far behind. It must be heard."""
        if not isinstance(event, Output):
            return event
        if event.stream not in self._streams or self._admitted - self._heard >= UNHEARD_CHARACTERS:
            return event._replace(text="")
        self._admitted += len(event.text)
        return event

    def hear(self, event: Event) -> None:
        """Calls the callback that EVENT is for."""
        if isinstance(event, Output):
            self._heard += len(event.text)
            if event.stream in self._streams:
                self._streams[event.stream].hear(event)
        elif self._on_progress:
            self._on_progress(event.message)

    def finish(self) -> None:
        """The answer has come."""
        for stream in self._streams.values():
            stream.finish()


class _Stream:
    """What comes of one stream. Bytes whose text does not come are counted, and said in a line as in a result."""

    def __init__(self, callback: OnOutput) -> None:
        self._callback = callback
        self._heard = 0  # where in the stream the last text has ended
        self._written = 0  # where the last piece has ended, with or without a text
        self._at_line_start = True

    def hear(self, piece: Output) -> None:
        if piece.offset < self._written:  # The next of several code blocks.
            self.finish()
            self._heard = 0
        self._written = piece.offset + piece.length
        if piece.text:
            self._say_gap(piece.offset)
            self._say(piece.text)
            self._heard = self._written

    def finish(self) -> None:
        self._say_gap(self._written)
        self._heard = self._written

    def _say_gap(self, end: int) -> None:
        if end > self._heard:
            self._say(("" if self._at_line_start else "\n") + f"... [{end - self._heard} bytes left out] ...\n")

    def _say(self, text: str) -> None:
        self._at_line_start = text.endswith("\n")
        self._callback(text)
