"""The files that go into a working directory before a call: from the program, and from its disk."""

from __future__ import annotations

import base64
import json
import os
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

ONCE_BYTES = 3_000_000  # that a call takes with it, as JSON; the server reads no message beyond 4 MiB
ONCE_FILES = 100
PIECE_BYTES = 2_000_000  # of a file, before it is JSON
SUFFIX = ".pyexecd-piece"

# A piece is put behind what is there of its file.
JOIN = f"""
import os
with open({{path!r}} + "{SUFFIX}", "rb") as piece, open({{path!r}}, "ab") as whole:
    whole.write(piece.read())
os.unlink({{path!r}} + "{SUFFIX}")
"""

Content = Union[str, bytes, "os.PathLike[str]"]
Files = Union[Mapping[Any, Content], Sequence[Union[str, "os.PathLike[str]", Mapping[str, Any]]], None]


class Shipment(NamedTuple):
    """Files of a call that comes before, and its code."""

    files: List[Dict[str, Any]]
    code: str


def _named(file: Any) -> Tuple[str, Any]:
    """The path and the content of FILE, an entry of a list."""
    if not isinstance(file, Mapping):
        local = os.fspath(file)
        return os.path.basename(local), _Local(local)
    if "blob" in file:
        return os.fspath(file["path"]), base64.b64decode(file["blob"])
    return os.fspath(file["path"]), file.get("text", "")


class _Local(str):
    """The path of a file on this disk."""


def _contents(files: Files) -> List[Tuple[str, Any]]:
    if isinstance(files, (str, bytes)):
        raise TypeError("files must be a dict {path: content} or a list of paths, not " + type(files).__name__)
    named = [(os.fspath(path), content) for path, content in files.items()] if isinstance(files, Mapping) else [
        _named(file) for file in files or ()]
    return [(path, _checked(path, content)) for path, content in named]


def _checked(path: str, content: Any) -> Any:
    if isinstance(content, os.PathLike):
        return _Local(os.fspath(content))
    if not isinstance(content, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"the content of {path} must be str, bytes or a path, not {type(content).__name__}")
    return content


def _pieces(content: Any) -> Iterator[bytes]:
    """At least one, if only an empty one."""
    if isinstance(content, _Local):
        with open(content, "rb") as file:
            yield file.read(PIECE_BYTES)
            yield from iter(lambda: file.read(PIECE_BYTES), b"")
        return
    data = memoryview(content.encode() if isinstance(content, str) else content).cast("B")
    for offset in range(0, max(len(data), 1), PIECE_BYTES):
        yield bytes(data[offset:offset + PIECE_BYTES])


def _size(content: Any) -> int:
    """As JSON."""
    if isinstance(content, _Local):
        return os.stat(content).st_size * 4 // 3
    if isinstance(content, str):
        return len(json.dumps(content, ensure_ascii=False).encode())
    return memoryview(content).nbytes * 4 // 3


def _entry(path: str, content: Any) -> Dict[str, Any]:
    if isinstance(content, str) and not isinstance(content, _Local):
        return {"path": path, "text": content}
    return {"path": path, "blob": base64.b64encode(b"".join(_pieces(content))).decode()}


def are_many(files: Files) -> bool:
    """Whether FILES are more than one call takes with it."""
    contents = _contents(files)
    return len(contents) > ONCE_FILES or sum(_size(content) for _, content in contents) > ONCE_BYTES


def listed(files: Files) -> Optional[List[Dict[str, Any]]]:
    """FILES as the argument of a call. Raises TypeError for what is none, and OSError for one that cannot be read."""
    return None if files is None else [_entry(path, content) for path, content in _contents(files)]


def shipments(files: Files) -> Iterator[Shipment]:
    """FILES as calls that come before the one that needs them, one after the other in one directory."""
    waiting: List[Dict[str, Any]] = []
    size = 0
    for path, content in _contents(files):
        for number, piece in enumerate(_pieces(content)):
            if waiting and (number > 0 or size + len(piece) > PIECE_BYTES or len(waiting) == ONCE_FILES):
                yield Shipment(waiting, "")
                waiting, size = [], 0
            if number > 0:
                yield Shipment([_entry(path + SUFFIX, piece)], JOIN.format(path=path))
            else:
                waiting.append(_entry(path, piece))
                size += len(piece)
    if waiting:
        yield Shipment(waiting, "")


def check_place(session: Optional[str], fork: Optional[str]) -> None:
    """Raises ValueError if files that need calls of their own are for a session that only its name is known of."""
    if session not in (None, "new") or fork is not None:
        raise ValueError(f"files of more than {ONCE_BYTES} bytes go into a session with client.session().run()")
