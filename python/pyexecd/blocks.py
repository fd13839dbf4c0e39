"""Code blocks as AutoGen's command line executors run them: one after the other, each in a fresh process."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import logging
import pathlib
import re
from concurrent.futures import Future
from typing import Optional

from . import installs, place
from .results import BlockResult, CodeBlocksResult

# As AutoGen spells them, and as the server does; PowerShell is not among them.
LANGUAGES = {"python": "python", "py": "python", "python3": "python", "bash": "bash", "sh": "sh", "shell": "sh"}
EXTENSIONS = {"python": "py", "bash": "bash", "sh": "sh", "javascript": "js", "html": "html", "css": "css"}

# What the text of a single block says before its output: its own outcome, and after a timeout the signal as well.
HEADS = re.compile(r"\A(exitcode: .*\n)(Code output:\nBlock 1 of 1 \(.*\): )?")
EXIT_CODE = re.compile(r"^exitcode: .*\n", re.MULTILINE)
LABEL = re.compile(r"^Code output: ?\n?", re.MULTILINE)

# Where pip's progress would fill the output, AutoGen makes it quiet.
PIP = {"python": re.compile(r"^(! ?pip install)(?!.*-qqq)", re.MULTILINE)}
PIP_OF_SHELLS = re.compile(r"^(pip install)(?!.*-qqq)", re.MULTILINE)


# The file of a block, relative to the directory, in a comment on its first line.
FILE_NAME = re.compile(r"[ \t]*#[ \t]*filename:[ \t]*(?:\./)?(.*?)[ \t\r]*(?:\n|\Z)")


@dataclasses.dataclass
class Ended:
    """How a block ended: its exit code (124 after a timeout), what an agent is told, and whether the
    time was over."""

    exit_code: int
    output: str
    timed_out: bool = False
    file: Optional[str] = None


def run(here: place.Place, language: str, code: str) -> Future[Ended]:
    """Runs one code block in HERE; a future of how it ended."""
    return place.background.submit(_run(here, language, code))


async def _run(here: place.Place, language: str, code: str) -> Ended:
    """What the block installs is there for itself and for the later ones. If that fails it is not run."""
    if not here.installs(language):
        return ended(await here.run_block(language, code))
    reading = installs.read(language, code)
    problem = reading.problem or (await here.install(reading) if reading.packages else "")
    if problem:
        return Ended(1, problem)
    if not reading.packages:
        return ended(await here.run_block(language, code))
    try:
        done = ended(await here.run_block(language, reading.rest))
    finally:
        restore_file(here.directory, reading.rest, code)
    return dataclasses.replace(done, output=installs.told(reading) + done.output)


def restore_file(directory: pathlib.Path, saved: str, code: str) -> None:
    """The file of a block that names one has all of CODE, with what was installed, where it still has what the server
    has SAVED."""
    name = FILE_NAME.match(code)
    if name and not {"", ".", ".."}.intersection(name[1].split("/")):
        # The block has put something else into its way, or it is no name.
        with contextlib.suppress(OSError, ValueError):
            place.replace_text(directory / name[1], saved, code)


def ended(result: CodeBlocksResult) -> Ended:
    """What run_code_blocks says of its only block."""
    if not result.blocks:
        return Ended(1, result.text.removeprefix("block 1: "))
    (block,) = result.blocks
    timed_out = block.result is not None and block.result.status == "timeout"
    return Ended(block.exit_code, told(result.text, block, timed_out), timed_out, block.file)


def told(text: str, block: BlockResult, timed_out: bool) -> str:
    """The output alone if it is whole and BLOCK has succeeded, as programs read it; else the TEXT for models,
    which has what is needed to go on."""
    if block.exit_code == 0 and block.result and not block.result.structured["truncated"]:
        return block.result.stderr + block.result.stdout
    text = HEADS.sub("", text, count=1)
    text = EXIT_CODE.sub("", text, count=1) if timed_out else text
    return LABEL.sub("", text, count=1).removeprefix("Error output:\n")


def quiet(language: str, code: str) -> str:
    """CODE, in which `pip install` at the beginning of a line says errors only."""
    return PIP.get(language, PIP_OF_SHELLS).sub(r"\1 -qqq", code)


def language_of(name: str) -> Optional[str]:
    """The server's name of the language NAME, or None."""
    return LANGUAGES.get(name.lower())


def temporary_name(language: str, code: str) -> str:
    """AutoGen's name for the file of a block that names none."""
    return f"tmp_code_{hashlib.sha256(code.encode()).hexdigest()}.{EXTENSIONS[language]}"


def is_named(code: str) -> bool:
    """Whether the first line of CODE names its file."""
    return "filename:" in code.split("\n", 1)[0]


def settle_file(directory: pathlib.Path, language: str, code: str, saved: Optional[str], keep: bool) -> pathlib.Path:
    """The path of the file of a block in DIRECTORY, to which no link leads, where the server has SAVED it (None:
    nowhere). A file that the code has not named has AutoGen's name if it is to be kept; if not it is gone, and one that
    an earlier program has left as well."""
    if is_named(code) and saved:
        return directory / saved
    path = directory / temporary_name(language, code)
    try:
        if saved:
            place.remove_file(directory / saved)
        elif not keep:
            place.remove_file(path)
        if keep:
            place.write_file(path, code)
    except OSError as error:
        logging.error(f"Failed to delete temporary file {path}: {error}")
    return path
