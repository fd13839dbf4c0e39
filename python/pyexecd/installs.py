"""Commands of a model's code that install packages: they are read, and replaced by what they have come to.

The network of an installer is the server's to give. So no command of a script installs anything: whoever runs the code
carries out what stands there, and the code says how that has ended.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
import shlex
from typing import Awaitable, Callable, List, Match, Pattern, Tuple

# Whether the packages are there, and what to say of that.
Install = Callable[[List[str]], Awaitable[Tuple[bool, str]]]

PIP = r"(?:(?:python3?|\{sys\.executable\})[ \t]+-m[ \t]+)?pip3?[ \t]+install\b"
ARGUMENTS = r"""(?:"[^"\n]*"|'[^'\n]*'|\\\n|[0-9]?>&[0-9]|&>|<(?=[=0-9])|[^\n;&|#"'()`$<\\])*"""
SHELL = re.compile(
    rf"(?P<before>(?:^|&&|;|\|\|)[ \t]*){PIP}(?P<arguments>{ARGUMENTS})(?=[ \t]*(?:[;&|#\n]|\Z))", re.MULTILINE)
CELL = re.compile(rf"^(?P<before>[ \t]*)[!%][ \t]*{PIP}(?P<arguments>{ARGUMENTS})(?:[|#].*)?$", re.MULTILINE)
REDIRECTION = re.compile(r"""\s(?:[0-9]?>&[0-9]|(?:&|[0-9])?>{1,2}[ \t]*[^\s=>&"']+)(?=\s|$)""")

NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
VERSION = r"(?:===|[=~!<>]=|[<>])\s*[A-Za-z0-9.*+!_-]+"
REQUIREMENT = re.compile(rf"{NAME}(?:\[\s*{NAME}(?:\s*,\s*{NAME})*\s*\])?\s*(?:{VERSION}(?:\s*,\s*{VERSION})*)?")

QUIET = {"-q", "-qq", "--quiet"}
# `-qqq` is AutoGen's own, and hides errors only from who asks for it.
HARMLESS = {"-qqq", "-U", "--upgrade", "--user", "--no-cache-dir", "--disable-pip-version-check", "--no-input",
            "--break-system-packages", "--prefer-binary", "--no-warn-script-location", "--no-warn-conflicts",
            "--no-color", "-v", "-vv", "--verbose"}
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
    if not command.problem and not command.requirements:
        command.problem = "ERROR: You must give at least one requirement to install"
    return command


def read_word(command: Command, word: str, rest: List[str]) -> None:
    """Adds WORD to COMMAND; REST are the words behind it, from which it takes its value."""
    if word in QUIET:
        command.is_quiet = True
    elif word in WITH_VALUE:
        del rest[:1]
    elif word in HARMLESS or word.partition("=")[0] in WITH_VALUE:
        pass
    elif REQUIREMENT.fullmatch(word):
        command.requirements.append(word)
    else:
        command.problem = IMPOSSIBLE.format(f"`{word}`")


async def carry_out(command: Command, install: Install) -> Tuple[bool, str]:
    """Has INSTALL do what COMMAND says. Whether that is done, and what to say."""
    if command.problem:
        return False, command.problem
    done, text = await install(command.requirements)
    return done, "" if done and command.is_quiet else text


async def replaced(code: str, pattern: Pattern[str], outcome: Callable[[Match[str]], Awaitable[str]]) -> str:
    """CODE, in which the OUTCOME of each match of PATTERN, of MOST at most, stands in its place."""
    parts, end = [], 0
    for match in itertools.islice(pattern.finditer(code), MOST):
        parts += [code[end:match.start()], await outcome(match)]
        end = match.end()
    return "".join([*parts, code[end:]])


async def in_shell(code: str, install: Install) -> str:
    """CODE of a shell, whose commands that install have been carried out."""
    async def outcome(match: Match[str]) -> str:
        if is_left(code, match.start()) or HELP.intersection(match["arguments"].split()):
            return match[0]
        redirections = "".join(REDIRECTION.findall(match["arguments"]))
        done, text = await carry_out(read(REDIRECTION.sub(" ", match["arguments"])), install)
        say = f"printf '%s\\n' {shlex.quote(text)}" if text else ":"
        return f"{match['before']}{{ {say if done else f'{say} >&2; false'}; }}{redirections}"

    return await replaced(code, SHELL, outcome)


def is_left(code: str, start: int) -> bool:
    """Whether what begins at START of CODE is left to the shell: text in quotes, or in or behind a document of the
    script's own, and what goes to a virtual environment that the script has made or entered."""
    before = code[:start]
    line = before[before.rfind("\n") + 1:]
    return bool("<<" in before or line.count('"') % 2 == 1 or line.count("'") % 2 == 1 or OWN_VENV.search(before))


async def in_cell(code: str, install: Install) -> str:
    """CODE of a cell, whose lines `!pip install` and `%pip install` have been carried out."""
    async def outcome(match: Match[str]) -> str:
        if HELP.intersection(match["arguments"].split()):
            return match[0]
        done, text = await carry_out(read(REDIRECTION.sub(" ", match["arguments"])), install)
        stream = "" if done else ", file=__import__('sys').stderr"
        return f"{match['before']}print({text!r}{stream})" if text else f"{match['before']}pass"

    return code if is_python(code) else await replaced(code, CELL, outcome)


def is_python(code: str) -> bool:
    """Whether CODE is Python without commands: what looks like one is text in it."""
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        return False
    return True
