"""Where code of this program can write: nothing that lies there, or that a link there leads to, may count for what runs
outside of its sandbox."""

from __future__ import annotations

import os
import re
import sys
from typing import Any, Dict, Iterator, List, Mapping, Optional, Set, Union
from urllib.parse import unquote

from .errors import PyexecdError
from .process import find_program

Directory = Union["os.PathLike[str]", str]

MOST_LINKS = 40  # on the way to a file, as the kernel has it

# Where programs, their libraries and modules are looked for; an empty part is the current directory.
LISTS = re.compile(r"((PYTHON)?PATH|LD_(LIBRARY_PATH|PRELOAD|AUDIT))\Z")
ADDRESS = re.compile(r"(?:[^/=]*=)?(?:file:(?://[^/]*)?)?", re.IGNORECASE)

PYTHON_KEYS = ("venv_path", "python_path", "executable")

# Where code of this program can write, or could, and with which Pythons: several executors may use what one of them can
# change.
_places: Dict[str, Set[Optional[str]]] = {}


def add(environment: Mapping[str, Any], directory: Optional[Directory]) -> None:
    """Code of ENVIRONMENT will run in DIRECTORY (None: a temporary one). Raises PyexecdError if other code of this
    program can have led it elsewhere."""
    given = [] if directory is None else [os.fspath(directory)]
    links = [step for each in given for step in steps(each) if os.path.islink(step) and is_of_code(step)]
    if links:
        raise PyexecdError(f"{links[0]} is a link, which code of this program can have made")
    for place in (*given, *environment.get("write", ()), *environment.get("volumes", ())):
        _places.setdefault(os.path.realpath(place), set()).add(python_of(environment))


def python_of(environment: Mapping[str, Any]) -> Optional[str]:
    """The virtual environment or interpreter that ENVIRONMENT names."""
    return next((environment[key] for key in PYTHON_KEYS if environment.get(key)), None)


def check_python(environment: Mapping[str, Any]) -> None:
    """Raises PyexecdError if code with another Python could have changed that of ENVIRONMENT, which tells the server
    what it needs of this machine's files."""
    for python in (environment[key] for key in PYTHON_KEYS if environment.get(key)):
        for step in steps(python):
            for place, pythons in _places.copy().items():
                if lies_in(step, place) and pythons - {python_of(environment)}:
                    raise PyexecdError(f"{python} lies in {place}, where code of this program can have changed it")


def protected(environment: Mapping[str, Any], directory: Optional[Directory]) -> Mapping[str, Any]:
    """ENVIRONMENT, whose code can only read what of this program's Python, of this package and of its server lies in
    DIRECTORY: that runs outside of the sandbox. Of a deep path it is all that lies beside it: else code could rename a
    directory on the way, and make another one."""
    if directory is None or environment.get("type") == "docker" or environment.get("isolation") == "none":
        return environment
    place = os.path.realpath(directory)
    written = [os.path.realpath(each) for each in environment.get("write", ())]
    held = [first_part(path, place) for path in own_programs() if path != place and lies_in(path, place)]
    read = [path for path in dict.fromkeys(held) if not any(lies_in(path, each) for each in written)]
    return {**environment, "read": [*environment.get("read", ()), *read]} if read else environment


def own_programs() -> List[str]:
    """The directories of this program's Python, of this package, of its server and of the server's helpers."""
    programs = os.path.dirname(os.path.realpath(find_program()))
    helpers = os.path.join(programs, os.pardir, "libexec", "pyexecd")
    return [os.path.realpath(each) for each in (sys.prefix, os.path.dirname(__file__), programs, helpers)]


def first_part(path: str, place: str) -> str:
    """The entry of PLACE in which PATH lies."""
    return os.path.join(place, os.path.relpath(path, place).split(os.sep)[0])


def variables() -> Dict[str, str]:
    """The variables of this program for a server, without what leads to places of code."""
    return {name: kept for name, value in os.environ.items() if (kept := kept_of(name, value))}


def kept_of(name: str, value: str) -> str:
    """What a server gets of the variable NAME: all of VALUE or nothing, and of a list what leads to a certain place."""
    if LISTS.match(name):
        parts = re.split(":" if name.endswith("PATH") else "[: ]", value)
        return os.pathsep.join(each for each in parts if os.path.isabs(each) and not leads(each))
    return value if name == "HOME" or not any(map(leads, paths_in(value))) else ""


def paths_in(value: str) -> List[str]:
    """The absolute paths in VALUE of a variable, also those of addresses."""
    words = [ADDRESS.sub("", each, count=1) for each in (value, *re.split(r"[\s,:]+", value))]
    return [each for word in words for each in (word, unquote(word)) if os.path.isabs(each)]


def leads(path: str) -> bool:
    """Whether PATH lies in a place of code, or the way to it leads through one."""
    return any(map(is_of_code, steps(path)))


def is_of_code(path: str) -> bool:
    """Whether PATH, by its name, lies in a place of code."""
    return any(lies_in(path, place) for place in _places.copy())


def lies_in(path: str, place: str) -> bool:
    """Whether PATH, by its name, is PLACE or lies in it."""
    return os.path.commonpath([path, place]) == place


def steps(path: str) -> Iterator[str]:
    """The files that the kernel looks at on its way to PATH, each by a name without links before its last part."""
    parts, here, links = parts_of(os.path.join(os.getcwd(), path)), os.sep, 0
    while parts and links <= MOST_LINKS:
        part = parts.pop()
        here = os.path.dirname(here) if part == os.pardir else os.path.join(here, part)
        yield here
        try:
            target = os.readlink(here)
        except OSError:
            continue
        links += 1
        here = os.sep if os.path.isabs(target) else os.path.dirname(here)
        parts += parts_of(target)


def parts_of(path: str) -> List[str]:
    """The names that PATH is made of, the last one first."""
    return [each for each in path.split(os.sep)[::-1] if each not in ("", os.curdir)]
