"""What an executor's code installs: virtual environments on top of its Python.

Each installation makes a new one, in an empty place, with all that was asked for so far. So no package that is there
takes part when another one comes. Code of the executor can read it, and only the server's installer writes it: in a
sandbox that reaches the package index and nothing else. The Python beneath stays as it is.
"""

from __future__ import annotations

import asyncio
import os
import pathlib
import shutil
import tempfile
import weakref
from importlib import metadata
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from . import AsyncClient, definition, installs
from .errors import PyexecdError
from .results import Result

# What pip says of the packages NAMES, as far as it is of use.
REPORT = """
import re, sys
from importlib import metadata
found = [metadata.distribution(re.match("[A-Za-z0-9._-]+", each)[0]) for each in {!r}]
of_own = [str(each.locate_file("")).startswith(sys.prefix) for each in found]
for each, own in zip(found, of_own):
    if not own:
        print(f"Requirement already satisfied: {{each.metadata['Name']}}=={{each.version}}")
installed = " ".join(f"{{each.metadata['Name']}}-{{each.version}}" for each, own in zip(found, of_own) if own)
print(f"Successfully installed {{installed}}" if installed else "", end="")
"""
# What the server says before the words of the installer.
FAILED = 'The run failed: cannot prepare environment "packages": '
# The further directories of packages. One that code can write is only named there: a Python that waits for code does
# not look into it, and nothing in it is executed.
PATHS = "pyexecd_beneath.pth"
MOST = 100  # installations of an executor, each of which takes its time and its disk for a while


class Overlay:
    """ENVIRONMENT has the keys of the environment beneath; WRITABLE are further directories of packages, in which code
    can write. Nothing of the overlay lies in DIRECTORY, where code runs. Everything is gone with remove() or with this
    object."""

    def __init__(self, environment: Mapping[str, Any], directory: definition.Directory,
                 writable: Sequence[str] = ()) -> None:
        place = tempfile.mkdtemp(prefix="overlay-", dir=state_outside(directory))
        # In a sandbox this is a name in a /tmp of its own; without one nobody else can have made it.
        self._cache = tempfile.mkdtemp(prefix="pyexecd-matplotlib-", dir="/tmp")
        self.remove = weakref.finalize(self, remove, [place, self._cache], os.getpid())
        self._state = os.path.join(place, "state")
        self.directory = os.path.join(place, "packages")
        os.mkdir(self.directory, 0o700)
        self._beneath = environment
        self._writable = list(writable)
        self._requirements: List[str] = []
        self._attempts = 0
        self._paths: List[str] = []
        self._lock: Optional[asyncio.Lock] = None
        self._is_needed = bool(writable or definition.lacks_packages(environment))

    @property
    def entry(self) -> str:
        """The code by which a Python finds the packages that has started without them, or with earlier ones."""
        (folder,) = definition.packages_in(pathlib.Path(self._paths[-1]))
        kept = f"[each for each in __import__('sys').path if not each.startswith({self.directory!r})]"
        return f"__import__('sys').path[:] = [{folder!r}, *{kept}]"

    def without_caches(self, environment: Mapping[str, Any]) -> Mapping[str, Any]:
        """ENVIRONMENT, whose code leaves no settings and fonts of matplotlib in its directory."""
        variables = {"MPLCONFIGDIR": self._cache, **environment.get("environment", {})}
        return {**environment, "environment": variables}

    def shown_in(self, environment: Mapping[str, Any]) -> Mapping[str, Any]:
        """ENVIRONMENT, whose code can read the packages, as soon as there are some."""
        return {**environment, "read": [*environment.get("read", ()), self.directory]}

    async def environment(self) -> Optional[Mapping[str, Any]]:
        """The environment with what is installed by now; None: that beneath. Raises PyexecdError if it is needed and
        cannot be made."""
        async with self._turn():
            if self._is_needed and not self._paths:
                await self._make([], "")
            if not self._paths:
                return None
            keys = definition.without(self._keys(self._paths[-1], []), definition.PACKAGE_KEYS)
            return self.shown_in({**keys, "read": [*keys.get("read", ()), *definition.shown(self._beneath)]})

    def _keys(self, path: str, requirements: Sequence[str]) -> Dict[str, Any]:
        """The keys of the virtual environment at PATH, with the packages beneath it and REQUIREMENTS."""
        keys = definition.on_top(self._beneath, path, self._writable)
        keys["pip_packages"] = [*keys.get("pip_packages", ()), *requirements]
        return dict(self.without_caches(keys))

    async def _make(self, requirements: List[str], code: str) -> Result:
        """Makes a virtual environment with REQUIREMENTS and runs CODE in it. Raises PyexecdError if that fails."""
        self._attempts += 1
        path = os.path.join(self.directory, str(self._attempts))
        keys = self._keys(path, requirements)
        if keys.get("network") is True:
            del keys["network"]  # of code, but not of installers
        result = await self._run(keys, code)
        if result.is_error:
            shutil.rmtree(path, ignore_errors=True)
            raise PyexecdError(result.text.removeprefix(FAILED))
        self._show_beneath(pathlib.Path(path))
        self._requirements = requirements
        self._paths.append(path)
        for earlier in self._paths[:-2]:  # A script that still runs may use the one before.
            shutil.rmtree(earlier, ignore_errors=True)
        return result

    async def _run(self, keys: Mapping[str, Any], code: str) -> Result:
        """Runs CODE in a server of its own, which prepares the environment of KEYS."""
        config = {"environments": {"packages": definition.accepted(keys)}, "default_environment": "packages"}
        variables = {**os.environ, "XDG_STATE_HOME": self._state}
        async with AsyncClient(config=config, environ=variables) as client:
            return await client.run_python(code)

    def _show_beneath(self, path: pathlib.Path) -> None:
        """Lets the virtual environment at PATH, which is complete, find the packages beneath it."""
        folders = definition.packages_beneath(self._beneath)
        lines = [*(f"import site; site.addsitedir({each!r})" for each in folders), *self._writable]
        if lines:
            (packages,) = definition.packages_in(path)
            create(os.path.join(packages, PATHS), "\n".join(lines) + "\n")

    async def install(self, requirements: List[str]) -> Tuple[bool, str]:
        """Has the server install REQUIREMENTS. Whether they are there, and what to say of that."""
        async with self._turn():
            if self._attempts >= MOST:
                return False, f"pip install: there were {MOST} installations, and no more are made"
            there = versions_in(definition.packages_beneath(self._beneath))
            satisfied = [each for each in requirements if installs.is_name(each) and installs.name_of(each) in there]
            wanted = [each for each in requirements if each not in satisfied]
            lines = "".join(f"Requirement already satisfied: {each}=={there[installs.name_of(each)]}\n"
                            for each in satisfied)
            try:
                result = await self._make(joined(self._requirements, wanted), REPORT.format(wanted)) if wanted else None
            except PyexecdError as error:
                return False, lines + str(error)
            return True, lines + result.stdout if result else lines.rstrip()

    async def carried_out(self, language: str, code: str) -> str:
        """CODE of a block in LANGUAGE, whose commands that install something have been carried out."""
        return await installs.in_shell(code, self.install) if language in ("bash", "sh") else code

    async def carried_out_in_cell(self, code: str) -> str:
        """The same of a cell."""
        return await installs.in_cell(code, self.install)

    def _turn(self) -> asyncio.Lock:
        """Made in the event loop that uses it, as Python 3.9 wants it."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock


def joined(earlier: Sequence[str], later: Sequence[str]) -> List[str]:
    """EARLIER and LATER requirements, of which each package has one: the last that says more than its name."""
    chosen: Dict[str, str] = {}
    for each in [*earlier, *later]:
        name = installs.name_of(each)
        if name not in chosen or not installs.is_name(each):
            chosen[name] = each
    return list(chosen.values())


def versions_in(folders: Sequence[str]) -> Dict[str, str]:
    """The versions of the packages in FOLDERS, by their names as they are compared."""
    found = [each for each in metadata.distributions(path=list(folders)) if each.metadata["Name"]]
    return {installs.name_of(each.metadata["Name"]): each.version for each in found}


def state_outside(directory: definition.Directory) -> str:
    """A directory of this user for what executors keep, which is not in DIRECTORY. Raises PyexecdError: there is
    none."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    for place in (os.path.join(state, "pyexecd-executors"), "/var/tmp", "/tmp"):
        try:
            os.makedirs(place, 0o700, exist_ok=True)
        except OSError:
            continue
        if os.access(place, os.W_OK) and not definition.is_within(place, directory):
            return place
    raise PyexecdError(f"there is no place for packages outside of {directory}")


def create(path: str, text: str) -> None:
    """Writes TEXT to a new file at PATH. Nothing that stands there is written to."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "w",
              encoding="utf-8") as file:
        file.write(text)


def remove(directories: Sequence[str], process: int) -> None:
    """Removes DIRECTORIES in the process that has made them, and not in one that was forked."""
    if os.getpid() == process:
        for directory in directories:
            shutil.rmtree(directory, ignore_errors=True)


def held(environment: Mapping[str, Any],
         directory: definition.Directory) -> Tuple[Mapping[str, Any], Optional[Overlay]]:
    """ENVIRONMENT for code that runs in DIRECTORY, and its overlay; or None where code can install by itself: in a
    container, and without a sandbox."""
    if environment.get("type") not in ("system", "venv") or environment.get("isolation") == "none":
        return environment, None
    environment, writable = definition.held(environment, directory)
    made = Overlay(environment, directory, writable)
    return made.without_caches(environment), made
