"""Results of tools, as objects."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Tuple, TypeVar

from .errors import CallRefused, ToolError

Checked = TypeVar("Checked", bound="ToolResult")


REPR_CHARACTERS = 60  # of a text


def _shortened(text: str) -> str:
    return repr(text if len(text) <= REPR_CHARACTERS else text[:REPR_CHARACTERS] + "...")


def _counted(*counts: Tuple[int, str]) -> str:
    """How many there are of what there is: ", 2 files"."""
    return "".join(f", {count} {noun}{'s' if count > 1 else ''}" for count, noun in counts if count)


@dataclass(frozen=True)
class Image:
    """A picture that a result shows to the model. `data` is the file. A notebook shows the picture."""

    mime_type: str
    data: bytes = field(repr=False)

    def _repr_png_(self) -> Optional[bytes]:
        return self.data if self.mime_type == "image/png" else None

    def _repr_html_(self) -> str:
        return f'<img src="data:{self.mime_type};base64,{base64.b64encode(self.data).decode()}">'


@dataclass(frozen=True)
class File:
    """A file in a working directory. `path` is relative to it, `size` is in bytes, and `uri` is for `read_file()`."""

    path: str
    size: Optional[int]
    mime_type: str
    uri: str


@dataclass(frozen=True, repr=False)
class ToolResult:
    """The result of any tool. A notebook shows its text and its pictures.

    `text` is what a model reads, `is_error` whether the tool says that it failed, and `content` all that was
    answered. `structured` is the form for programs, empty if there is none.
    """

    text: str
    is_error: bool
    images: Tuple[Image, ...]
    content: Tuple[Mapping[str, Any], ...]
    structured: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._told()}{_counted((len(self.images), 'image'))}>"

    def _told(self) -> str:
        return ("error " if self.is_error else "") + _shortened(self.text)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Mapping[str, str]:
        return {"text/plain": self.text}

    def _repr_html_(self) -> str:
        import html
        return f"<pre>{html.escape(self.text)}</pre>" + "".join(image._repr_html_() for image in self.images)

    def _repr_png_(self) -> Optional[bytes]:
        return next(filter(None, (image._repr_png_() for image in self.images)), None)

    def check(self: Checked) -> Checked:
        """Returns this result, or raises `ToolError` if it is an error."""
        if self.is_error:
            raise ToolError(self.text, self)
        return self


@dataclass(frozen=True, repr=False)
class Result(ToolResult):
    """What a run of Python did.

    `status` is one of:
      "success"        the exit code is 0
      "failure"        the program ended with another exit code, or by a signal
      "timeout"        it was stopped at its timeout
      "out_of_memory"  the memory limit ended a process of it
      "error"          it could not be run, or not to its end; `text` says why
      "refused"        nothing was run; `text` says why. Only of `map()` and `run_many()`: elsewhere that is raised

    `exit_code` is the negative number of the signal that ended the program, and None if it never ran. `stdout` and
    `stderr` are what the server kept of the output, 1 MiB of each by default. `files` are those that were created or
    changed. `timings` has the seconds of each step, and `duration` all of them. `working_directory` is a handle: pass
    it to another call to go on with the files. `session` is the name of the session that executed the code, and
    `session_alive` whether it still has its variables; without a session they are None and False.
    """

    status: str
    exit_code: Optional[int]
    stdout: str
    stderr: str
    files: Tuple[File, ...]
    duration: float
    timings: Mapping[str, Any]
    working_directory: Optional[str]
    session: Optional[str]
    session_alive: bool

    def _told(self) -> str:
        outputs = "".join(f", {name} {_shortened(text)}" for name, text in
                          (("stdout", self.stdout), ("stderr", self.stderr)) if text)
        return f"{self.status}, {self.duration:.3g} s{outputs}" + _counted((len(self.files), "file"))

    @property
    def success(self) -> bool:
        """Whether the program ran to its end with exit code 0."""
        return self.status == "success"


@dataclass(frozen=True)
class BlockResult:
    """What became of one code block.

    `file` is where it is saved, relative to the working directory, or None. `exit_code` is 124 after a timeout and 1 if
    it could not be run; `error` says why it was not run. `result` is that of its run, None if there was none; its
    `text` is the output.
    """

    language: str
    file: Optional[str]
    exit_code: int
    error: Optional[str]
    result: Optional[Result]


@dataclass(frozen=True, repr=False)
class CodeBlocksResult(ToolResult):
    """What became of the code blocks of a message.

    `exit_code` is that of the last block that was tried. `blocks` are those that were
    tried: the first that fails is the last. `left_out` is the number of blocks behind it.
    """

    exit_code: int
    blocks: Tuple[BlockResult, ...]
    left_out: int

    def _told(self) -> str:
        return f"exit code {self.exit_code}" + _counted((len(self.blocks), "block")) + (
            f", {self.left_out} left out" if self.left_out else "")

    @property
    def working_directory(self) -> Optional[str]:
        """The handle of the directory that the blocks ran in, or None if none ran."""
        ran = [block.result for block in self.blocks if block.result]
        return ran[-1].working_directory if ran else None


def tool_result(answer: Mapping[str, Any]) -> ToolResult:
    """ANSWER is the result of `tools/call`."""
    return ToolResult(**_common(answer))


def run_result(answer: Mapping[str, Any]) -> Result:
    """The same, of `run_python`."""
    common = _common(answer)
    return Result(**common, **_run_fields(common["structured"]))


def code_blocks_result(answer: Mapping[str, Any]) -> CodeBlocksResult:
    """The same, of `run_code_blocks`."""
    common = _common(answer)
    structured = common["structured"]
    blocks = tuple(_block_result(block) for block in structured.get("blocks", ()))
    return CodeBlocksResult(**common, exit_code=structured.get("exit_code", 1), blocks=blocks,
                            left_out=structured.get("left_out", 0))


def accepted(result: Checked) -> Checked:
    """RESULT, or raises `CallRefused` if nothing was run: then it has no structured form."""
    if result.is_error and not result.structured:
        raise CallRefused(result.text, result)
    return result


def listed_file(resource: Mapping[str, Any]) -> File:
    """RESOURCE is an entry of `resources/list`."""
    return File(resource["name"], resource.get("size"), resource.get("mimeType", ""), resource["uri"])


def _common(answer: Mapping[str, Any]) -> dict[str, Any]:
    content = tuple(answer.get("content", ()))
    structured = answer.get("structuredContent")
    if structured is None:
        structured = answer.get("_meta", {}).get("pyexecd/result", {})
    return {
        "text": "\n".join(part["text"] for part in content if part.get("type") == "text"),
        "is_error": bool(answer.get("isError", False)),
        "images": tuple(Image(part["mimeType"], base64.b64decode(part["data"]))
                        for part in content if part.get("type") == "image"),
        "content": content,
        "structured": structured,
    }


def _status(structured: Mapping[str, Any]) -> str:
    if not structured:
        return "refused"
    if structured["success"]:
        return "success"
    if structured["timed_out"]:
        return "timeout"
    if structured["out_of_memory"]:
        return "out_of_memory"
    return "error" if structured["error"] else "failure"


def _run_fields(structured: Mapping[str, Any]) -> dict[str, Any]:
    session = structured.get("session") or {}
    return {
        "status": _status(structured),
        "exit_code": structured.get("returncode"),
        "stdout": structured.get("stdout", ""),
        "stderr": structured.get("stderr", ""),
        "files": tuple(File(file["path"], file["size"], file.get("mimeType", ""), file.get("uri", ""))
                       for file in structured.get("files", ())),
        "duration": structured.get("duration", 0.0),
        "timings": structured.get("timings", {}),
        "working_directory": structured.get("working_directory"),
        "session": session.get("name"),
        "session_alive": session.get("alive", False),
    }


def _block_result(block: Mapping[str, Any]) -> BlockResult:
    structured = block["result"]
    result = None
    if structured:
        text = structured["stdout"] + structured["stderr"]
        result = Result(text=text, is_error=not structured["success"], images=(), content=(), structured=structured,
                        **_run_fields(structured))
    return BlockResult(block["language"], block["file"], block["exit_code"], block["error"], result)
