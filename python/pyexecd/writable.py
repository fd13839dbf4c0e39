"""What code can write, and what leads there: nothing of it may count for what runs outside of the sandbox of code."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Set
from urllib.parse import unquote

from .errors import PyexecdError

MOST_LINKS = 40  # on the way to a file, as the kernel has it

# Neither pip nor uv reads a file of settings or of passwords: code could have written it, or what it leads to.
NO_FILES = {"PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", "NETRC": "", "PIP_KEYRING_PROVIDER": "disabled"}
INSTALLER = re.compile(r"PIP_|UV_|NETRC\Z", re.IGNORECASE)
# What the variables of a program may say to an installer: where packages come from, and how patient it is.
SOURCE = re.compile(r"PIP_(?:INDEX_URL|EXTRA_INDEX_URL|NO_INDEX|FIND_LINKS|TRUSTED_HOST|CERT|PROXY|TIMEOUT|"
                    r"DEFAULT_TIMEOUT|RETRIES)|"
                    r"UV_(?:INDEX|INDEX_\w+|EXTRA_INDEX_URL|DEFAULT_INDEX|NO_INDEX|FIND_LINKS|INSECURE_HOST|"
                    r"HTTP_TIMEOUT|HTTP_RETRIES)")
# Where programs and their libraries are looked for, and what parts these lists; an empty part is the current directory.
LISTS = (("PATH$", ":"), ("LD_", "[: ]"))
ADDRESS = re.compile(r"(?:[^/=]*=)?(?:file:(?://[^/]*)?)?", re.IGNORECASE)


# Where code of this program can write, or could: several executors may use what one of them can change.
_places: Set[str] = set()


class Writable:
    """The places in which code of an environment with the keys of DEFINITION can write that runs in DIRECTORY (None: a
    temporary one), and those of all others of this program. Raises PyexecdError if one of these can have led this code
    elsewhere."""

    def __init__(self, definition: Mapping[str, Any], directory: "os.PathLike[str] | str | None") -> None:
        given = [os.fspath(directory)] if directory is not None else []
        links = [step for each in given for step in steps(each) if os.path.islink(step) and is_of_code(step)]
        if links:
            raise PyexecdError(f"{links[0]} is a link, which code of this program can have made")
        self._own = [os.path.realpath(each) for each in (*given, *definition.get("write", ()))]
        self._named = [*self._own, *definition.get("read", ())]
        _places.update(self._own)

    def holds(self, path: str) -> bool:
        """Whether PATH, which has no link, lies in a place of this code, and is none itself."""
        return path not in self._own and any(lies_in(path, place) for place in self._own)

    def leads(self, path: str) -> bool:
        """Whether PATH lies in a place of code, or the way to it leads through one."""
        return any(map(is_of_code, steps(path)))

    def replaceable(self) -> Optional[str]:
        """What is named to each server of this code, and lies where code can put a link in its place; or None."""
        return next((path for path in self._named for place in _places.copy()
                     if path != place and lies_in(path, place)), None)

    def variables(self) -> Dict[str, str]:
        """The variables of this program for a server that installs packages, without what leads to places of code."""
        kept = {name: value for name, value in os.environ.items() if self._is_kept(name, value)}
        lists = {name: self._cleaned(value, separators) for name, value in os.environ.items()
                 for names, separators in LISTS if re.match(names, name)}
        return {**kept, "PATH": os.defpath, **lists, **NO_FILES}

    def _is_kept(self, name: str, value: str) -> bool:
        if INSTALLER.match(name) and not SOURCE.fullmatch(name):
            return False
        return name == "HOME" or not any(map(self.leads, paths_in(value)))

    def _cleaned(self, value: str, separators: str) -> str:
        """VALUE, a list of paths, without those that lead to places of code, or nowhere certain."""
        parts = re.split(separators, value)
        return os.pathsep.join(each for each in parts if os.path.isabs(each) and not self.leads(each))


def is_of_code(path: str) -> bool:
    """Whether PATH, by its name, lies in a place of code."""
    return any(lies_in(path, place) for place in _places.copy())


def lies_in(path: str, place: str) -> bool:
    """Whether PATH, by its name, is PLACE or lies in it."""
    return os.path.commonpath([path, place]) == place


def steps(path: str) -> Iterator[str]:
    """The files that the kernel looks at on its way to PATH, each by a name without links before its last part."""
    parts, here, links = parts_of(path if os.path.isabs(path) else os.path.join(os.getcwd(), path)), os.sep, 0
    while parts and links <= MOST_LINKS:
        part = parts.pop()
        here = os.path.dirname(here) if part == os.pardir else os.path.join(here, part)
        yield here
        if os.path.islink(here):
            links += 1
            target = os.readlink(here)
            here = os.sep if os.path.isabs(target) else os.path.dirname(here)
            parts += parts_of(target)


def parts_of(path: str) -> List[str]:
    """The names that PATH is made of, the last one first."""
    return [each for each in path.split(os.sep)[::-1] if each not in ("", os.curdir)]


def paths_in(value: str) -> List[str]:
    """The absolute paths in VALUE of a variable, also those of addresses."""
    words: Sequence[str] = [ADDRESS.sub("", each, count=1) for each in (value, *re.split(r"[\s,:]+", value))]
    return [each for word in words for each in (word, unquote(word)) if os.path.isabs(each)]
