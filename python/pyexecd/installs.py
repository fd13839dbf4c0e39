"""Commands of a model's code that install packages: they are read, and replaced by what they have come to.

The network of an installer is the server's to give. So no command of a script installs anything: whoever runs the code
carries out what stands there, and the code says how that has ended.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import shlex
from typing import Awaitable, Callable, Iterator, List, Pattern, Tuple

# Whether the packages are there, and what to say of that.
Install = Callable[[List[str]], Awaitable[Tuple[bool, str]]]

PIP = r"(?:uv[ \t]+pip|(?:(?:python3?|\{sys\.executable\})[ \t]+-m[ \t]+)?pip3?)[ \t]+install\b"
SHELL = re.compile(rf"(?P<before>(?:^|&&|;|\|\|)[ \t]*){PIP}", re.MULTILINE)
CELL = re.compile(rf"^(?P<before>[ \t]*)[!%][ \t]*{PIP}", re.MULTILINE)
# One part of the arguments. A pattern of all of them would try each part in several ways.
PART = re.compile(r"""[ \t]+|"[^"\n]*"|'[^'\n]*'|\\\n|[0-9]?>&[0-9]|&>|<(?=[=0-9])|[^\s;&|#"'()`$<\\]""")
SHELL_END = re.compile(r"[;&|#\n]|\Z")
CELL_END = re.compile(r"[|#\n]|\Z")
# A word of the arguments, or the blanks between two. Each character belongs to one alternative, so none is tried twice.
WORD = re.compile(r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s"'])+|\s+|["']""")
# A part of a shell's text, which ends before a quote that nothing closes.
TEXT = re.compile(r"""[^'"\\#]+|\\.|(?<![^\s;&|(])#[^\n]*|[#\\]|'[^']*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
# The same of Python, where a quote alone belongs to a command of the cell.
PYTHON = re.compile(r"""[^'"\\#]+|\\.|\\|#[^\n]*|'''(?:[^\\]|\\.)*?'''|\"""(?:[^\\]|\\.)*?\"""|"""
                    r"""(?!'''|\""")(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|['"])""", re.DOTALL)
DUPLICATION = re.compile(r"[0-9]?>&[0-9]")
REDIRECTION = re.compile(r"([&0-9]?>{1,2})([^\s=>&\"']*)")
TARGET = re.compile(r"[^\s=>&\"']+")

NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
VERSION = r"(?:===|[=~!<>]=|[<>])[ \t]*[A-Za-z0-9.*+!_-]+"
EXTRAS = rf"\[[ \t]*{NAME}(?:[ \t]*,[ \t]*{NAME})*[ \t]*\]"
REQUIREMENT = re.compile(rf"{NAME}(?:{EXTRAS})?[ \t]*(?:{VERSION}(?:[ \t]*,[ \t]*{VERSION})*)?")

MOST_CODE = 100_000  # characters of code; more is left to the script
MOST_ARGUMENTS = 4_000  # characters behind one `pip install`
MOST_WORD = 200

QUIET = {"-q", "-qq", "--quiet"}
UPGRADE = {"-U", "--upgrade"}
# AutoGen itself writes `-qqq`; what is installed is said all the same.
HARMLESS = {"-qqq", "--user", "--no-cache-dir", "--disable-pip-version-check", "--no-input",
            "--break-system-packages", "--prefer-binary", "--no-warn-script-location", "--no-warn-conflicts",
            "--no-color", "-v", "-vv", "--verbose", "--system"}
WITH_VALUE = {"--progress-bar", "--timeout", "--default-timeout", "--retries", "--root-user-action",
              "--upgrade-strategy"}
HELP = {"-h", "--help"}
OWN_VENV = re.compile(r"\b(?:activate|venv|virtualenv|conda)\b")
MOST = 16  # commands of a block; others are left to the script

IMPOSSIBLE = ("pip install: {} is not possible here, and nothing was installed. Name packages of the index without it, "
              "such as `pip install \"pandas>=2\" requests`.")


@dataclasses.dataclass
class Command:
    """What `pip install` is to do: REQUIREMENTS, or the PROBLEM that it cannot be done for."""

    requirements: List[str]
    is_quiet: bool = False
    is_upgrade: bool = False
    problem: str = ""


def read(arguments: str) -> Command:
    """The command with ARGUMENTS, a line of a shell."""
    command = Command([])
    try:
        words = shlex.split(arguments.replace("\\\n", " "))
    except ValueError as error:
        return Command([], problem=f"pip install: {error}")
    while words and not command.problem:
        read_word(command, words.pop(0), words)
    if command.is_upgrade:  # A version that is there is not enough, whatever it is.
        command.requirements = [f"{each}>=0" if is_name(each) else each for each in command.requirements]
    if not command.problem and not command.requirements:
        command.problem = "ERROR: You must give at least one requirement to install"
    return command


def is_name(requirement: str) -> bool:
    """Whether REQUIREMENT says nothing but the name of a package."""
    return re.fullmatch(NAME, requirement) is not None


def name_of(requirement: str) -> str:
    """The name of the package of REQUIREMENT, as it is compared."""
    name = re.match(NAME, requirement)
    return re.sub("[-_.]+", "-", name[0].lower()) if name else ""


def read_word(command: Command, word: str, rest: List[str]) -> None:
    """Adds WORD to COMMAND; REST are the words behind it, from which it takes its value."""
    if word in QUIET:
        command.is_quiet = True
    elif word in UPGRADE:
        command.is_upgrade = True
    elif word in WITH_VALUE:
        del rest[:1]
    elif word in HARMLESS or word.partition("=")[0] in WITH_VALUE:
        pass
    elif len(word) <= MOST_WORD and REQUIREMENT.fullmatch(word):
        command.requirements.append(word)
    else:
        command.problem = IMPOSSIBLE.format(f"`{word[:MOST_WORD]}`")


async def carry_out(command: Command, install: Install) -> Tuple[bool, str]:
    """Has INSTALL do what COMMAND says. Whether that is done, and what to say."""
    if command.problem:
        return False, command.problem
    done, text = await install(command.requirements)
    return done, "" if done and command.is_quiet else text


@dataclasses.dataclass
class Found:
    """A command in code: where it begins and ends, what stands before it in its line, and its arguments."""

    start: int
    end: int
    before: str
    arguments: str


def found(code: str, begin: Pattern[str], end: Pattern[str]) -> Iterator[Found]:
    """The commands in CODE, which BEGIN with a pattern and go on to what the pattern END matches."""
    position = 0
    while match := begin.search(code, position):
        position = arguments_end(code, match.end())
        arguments = code[match.end():position]
        if len(arguments) <= MOST_ARGUMENTS and end.match(code, position):
            yield Found(match.start(), position, match["before"], arguments)


def arguments_end(code: str, start: int) -> int:
    """Where the arguments end that begin at START of CODE."""
    while start < len(code) and (part := PART.match(code, start)):
        start = part.end()
    return start


async def replaced(code: str, commands: Iterator[Found], outcome: Callable[[Found], Awaitable[str]]) -> str:
    """CODE, in which the OUTCOME of each of COMMANDS, of MOST at most, stands in its place."""
    parts, end = [], 0
    for command in itertools.islice(commands, MOST):
        parts += [code[end:command.start], await outcome(command)]
        end = command.end
    return "".join([*parts, code[end:]])


async def in_shell(code: str, install: Install) -> str:
    """CODE of a shell, whose commands that install have been carried out."""
    async def outcome(command: Found) -> str:
        if is_left(code, command.start) or HELP.intersection(command.arguments.split()):
            return code[command.start:command.end]
        arguments, redirections = without_redirections(command.arguments)
        done, text = await carry_out(read(arguments), install)
        say = f"printf '%s\\n' {shlex.quote(text)}" if text else ":"
        return f"{command.before}{{ {say if done else f'{say} >&2; false'}; }}{redirections}"

    return await replaced(code, found(code, SHELL, SHELL_END), outcome) if len(code) <= MOST_CODE else code


def without_redirections(arguments: str) -> Tuple[str, str]:
    """ARGUMENTS of a shell's command without its redirections, and these."""
    words = [each[0] for each in WORD.finditer(arguments)]
    kept, redirections, i = "", "", 0
    while i < len(words):
        found = REDIRECTION.fullmatch(words[i])
        is_whole = DUPLICATION.fullmatch(words[i]) or (found and found[2])
        target = i + 2 if i + 2 < len(words) and words[i + 1].strip(" \t") == "" else i + 1
        if is_whole:
            redirections += f" {words[i]}"
        elif found and target < len(words) and TARGET.fullmatch(words[target]):
            redirections += f" {words[i]}{words[target]}"
            i = target
        else:
            kept += words[i]
        i += 1
    return kept, redirections


def is_left(code: str, start: int) -> bool:
    """Whether what begins at START of CODE is left to the shell: text in quotes, or in or behind a document of the
    script's own, and what goes to a virtual environment that the script has made or entered."""
    before = code[:start]
    return bool("<<" in before or OWN_VENV.search(before)) or is_quoted(before, TEXT)


def is_quoted(before: str, part: Pattern[str]) -> bool:
    """Whether what follows BEFORE, which is made of what PART matches, stands in quotes."""
    end = 0
    while match := part.match(before, end):
        end = match.end()
    return end < len(before)


async def in_cell(code: str, install: Install) -> str:
    """CODE of a cell, whose lines `!pip install` and `%pip install` have been carried out."""
    async def outcome(command: Found) -> str:
        if is_quoted(code[:command.start], PYTHON) or HELP.intersection(command.arguments.split()):
            return code[command.start:command.end]
        done, text = await carry_out(read(without_redirections(command.arguments)[0]), install)
        stream = "" if done else ", file=__import__('sys').stderr"
        return f"{command.before}print({text!r}{stream})" if text else f"{command.before}pass"

    commands = [lengthened(code, each) for each in found(code, CELL, CELL_END)] if len(code) <= MOST_CODE else []
    return await replaced(code, iter(commands), outcome)


def lengthened(code: str, command: Found) -> Found:
    """COMMAND with the rest of its line: a comment, or a program that would get what it prints."""
    end = code.find("\n", command.end)
    return dataclasses.replace(command, end=len(code) if end < 0 else end)
