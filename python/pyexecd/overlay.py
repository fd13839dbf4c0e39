"""What an executor's code installs: virtual environments on top of its Python.

Each installation makes a new one, in an empty place, with all that was asked for so far. So no package that is there
takes part when another one comes. Code of the executor can read it, and only the server's installer writes it: in a
sandbox that reaches the package index and nothing else. The Python beneath stays as it is.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pathlib
import re
import secrets
import stat
import tempfile
import time
import weakref
from importlib import metadata
from typing import Any, Collection, Dict, List, Mapping, Optional, Sequence, Tuple

from . import AsyncClient, definition, installs
from .errors import ConnectionLost, PyexecdError
from .removal import remove_tree
from .results import Result
from .writable import Writable

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
# How pip and uv say that requirements contradict each other.
CONFLICT = re.compile(r"ResolutionImpossible|conflict|No solution found")
PREFIX = "overlay-"
MOST_REPORT = 2_000  # characters; an installed package can add any, as each Python that starts runs it
# Each installation begins a server anew, which looks at its directories.
REPLACEABLE = ("pip install is not possible here: code of this program can put a link in place of {}. No directory of "
               "an executor may lie in one of another")
CLOSED = "the executor was closed meanwhile"
MOST_SECONDS = 600  # that the commands of one block may take together, as a preparation elsewhere
MOST = 100  # installations of an executor, each of which takes its time and its disk for a while


class Overlay:
    """ENVIRONMENT has the keys of the environment beneath; NAMED are further directories of packages. Nothing of the
    overlay lies in WRITABLE, where code can write. Everything is gone with close() or with this object."""

    def __init__(self, environment: Mapping[str, Any], writable: Writable, named: Sequence[str] = ()) -> None:
        state = state_outside(writable)
        sweep(state)
        place, lock = made_place(state)
        # In a sandbox this is a name in a /tmp of its own; without one nobody else knows it.
        self._cache = f"/tmp/pyexecd-matplotlib-{secrets.token_hex(8)}"
        self._remove = weakref.finalize(self, remove, [place, self._cache], lock, os.getpid())
        self._place = place
        self._state = os.path.join(place, "state")
        self.directory = os.path.join(place, "packages")
        os.mkdir(self.directory, 0o700)
        self._beneath = environment
        self._writable = writable
        self._named = list(named)
        self._client: Optional[AsyncClient] = None
        self._requirements: List[str] = []
        self._attempts = 0
        self._begun = time.monotonic()
        self._is_closed = False
        self._paths: List[str] = []
        self._lock: Optional[asyncio.Lock] = None
        self._is_needed = bool(named or definition.lacks_packages(environment))

    @property
    def entry(self) -> str:
        """The code by which a Python finds the packages that has started without them, or with earlier ones."""
        folder = f"{self._paths[-1]!r} + '/lib/python%d.%d/site-packages' % __import__('sys').version_info[:2]"
        kept = f"[each for each in __import__('sys').path if not each.startswith({self.directory!r})]"
        return f"__import__('sys').path[:] = [{folder}, *{kept}]"

    def client(self, config: Mapping[str, Any], **variables: str) -> AsyncClient:
        """A client of a server with CONFIG and VARIABLES beside those of this program. It is not started where this
        program is, whose files it would show scripts without a network. Raises PyexecdError."""
        return AsyncClient(config=self._written(config), environ={**self._writable.variables(), **variables},
                           cwd=self.directory)

    def _written(self, config: Mapping[str, Any]) -> str:
        """The path of a file with CONFIG, where no code can write, as it may where TMPDIR is. Raises PyexecdError."""
        try:
            descriptor, path = tempfile.mkstemp(suffix=".yaml", dir=self._place)
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump(config, file, ensure_ascii=False)
        except OSError as error:
            raise PyexecdError(CLOSED if self._is_closed else f"cannot write a configuration: {error}") from error
        return path

    def close(self) -> None:
        """Ends an installation, and removes everything. May be called twice, and from any thread."""
        self._is_closed = True
        client = self._client
        if client:
            client.close_now()
        self._remove()

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
                self._begun = time.monotonic()
                await self._make([], "")
            if not self._paths:
                return None
            keys = definition.without(self._keys(self._paths[-1], []), definition.PACKAGE_KEYS)
            shown = definition.packages_beneath(self._beneath)
            return self.shown_in({**keys, "read": [*keys.get("read", ()), *shown]})

    def _keys(self, path: str, requirements: Sequence[str]) -> Dict[str, Any]:
        """The keys of the virtual environment at PATH, with the packages beneath it and REQUIREMENTS."""
        keys = definition.on_top(self._beneath, path, self._named)
        keys["pip_packages"] = [*keys.get("pip_packages", ()), *requirements]
        return dict(self.without_caches(keys))

    async def _make(self, requirements: List[str], code: str) -> Result:
        """Makes a virtual environment with REQUIREMENTS and runs CODE in it. Raises PyexecdError if that fails."""
        self._attempts += 1
        path = os.path.join(self.directory, str(self._attempts))
        keys = self._keys(path, requirements)
        if keys.get("network") is True:
            del keys["network"]  # of code, but not of installers
        patience = keys.get("prepare_timeout", MOST_SECONDS) - (time.monotonic() - self._begun)
        keys["prepare_timeout"] = max(1, round(patience))
        try:
            result = await self._run(keys, code)
            if result.is_error:
                raise PyexecdError(result.text.removeprefix(FAILED))
            self._show_beneath(pathlib.Path(path))
        except BaseException:
            remove_tree(path)
            raise
        self._requirements = requirements
        self._paths.append(path)
        return result

    def forget(self, used: Collection[str]) -> None:
        """Removes the earlier virtual environments that are not USED, but the one before the last."""
        gone = [path for path in self._paths[:-2] if path not in used]
        self._paths = [path for path in self._paths if path not in gone]
        for path in gone:
            remove_tree(path)

    async def _run(self, keys: Mapping[str, Any], code: str) -> Result:
        """Runs CODE in a server of its own, which prepares the environment of KEYS. Raises PyexecdError."""
        config = {"environments": {"packages": definition.accepted(keys)}, "default_environment": "packages"}
        client = self._client = self.client(config, XDG_STATE_HOME=self._state)
        try:
            if self._is_closed:  # before close() could find the client
                raise PyexecdError(CLOSED)
            async with client:
                return await client.run_python(code)
        except ConnectionLost as error:
            raise PyexecdError(CLOSED if self._is_closed else str(error)) from error
        finally:
            self._client = None

    def _show_beneath(self, path: pathlib.Path) -> None:
        """Lets the virtual environment at PATH, which is complete, find the packages beneath it. Raises PyexecdError.

        A directory that code can write is only named: a Python that waits for code does not look into it, and nothing
        in it is executed. An installed package may bring any file, but does not know this name."""
        name = f"pyexecd_{secrets.token_hex(8)}.pth"
        folders = [(each, f"import site; site.addsitedir({ascii(each)})\n")
                   for each in definition.packages_beneath(self._beneath)]
        folders += [(each, f"{each}\n") for each in self._named]
        own = {pathlib.Path(each).parent.name: each for each in definition.packages_in(path)}
        try:
            for folder, line in folders:
                packages = own.get(pathlib.Path(folder).parent.name)  # of the same version
                if packages:
                    append(os.path.join(packages, name), line)
        except OSError as error:
            raise PyexecdError(f"cannot show the packages beneath: {error}") from error

    async def install(self, requirements: List[str]) -> Tuple[bool, str]:
        """Has the server install REQUIREMENTS. Whether they are there, and what to say of that."""
        async with self._turn():
            if self._attempts >= MOST:
                return False, f"pip install: there were {MOST} installations, and no more are made"
            replaceable = self._writable.replaceable()
            if replaceable:
                return False, REPLACEABLE.format(replaceable)
            there = self._there()
            satisfied = [each for each in requirements if installs.is_name(each) and installs.name_of(each) in there]
            wanted = [each for each in requirements if each not in satisfied]
            lines = "".join(f"Requirement already satisfied: {there[installs.name_of(each)]}\n" for each in satisfied)
            try:
                return True, (lines + (await self._add(wanted) if wanted else "")).rstrip("\n")
            except PyexecdError as error:
                return False, lines + str(error)

    def _there(self) -> Dict[str, str]:
        """What there is of the packages beneath and of those that were asked for, by their names."""
        beneath = versions_in(definition.packages_beneath(self._beneath))
        return {**{name: f"{name}=={version}" for name, version in beneath.items()},
                **{installs.name_of(each): each for each in self._requirements}}

    async def _add(self, wanted: List[str]) -> str:
        """Installs WANTED; what to say of it. Raises PyexecdError. As with pip, which asks nobody about what was
        installed before, an earlier requirement that does not go with WANTED is only a name."""
        report = REPORT.format(wanted)
        try:
            result = await self._make(joined(self._requirements, wanted), report)
        except PyexecdError as error:
            names = [installs.name_of(each) for each in self._requirements]
            if names == self._requirements or not CONFLICT.search(str(error)):
                raise
            result = await self._make(joined(names, wanted), report)
        return printable(result.stdout)[-MOST_REPORT:]

    async def carried_out(self, language: str, code: str) -> str:
        """CODE of a block in LANGUAGE, whose commands that install something have been carried out."""
        self._begun = time.monotonic()
        return await installs.in_shell(code, self.install) if language in ("bash", "sh") else code

    async def carried_out_in_cell(self, code: str) -> str:
        """The same of a cell."""
        self._begun = time.monotonic()
        return await installs.in_cell(code, self.install)

    def _turn(self) -> asyncio.Lock:
        """Made in the event loop that uses it, as Python 3.9 wants it."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock


def printable(text: str) -> str:
    """TEXT without characters that steer a terminal or end a command."""
    return "".join(each for each in text if each == "\n" or each.isprintable())


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


def state_outside(writable: Writable) -> str:
    """A directory of this user for what executors keep, which is not in WRITABLE. Raises PyexecdError: there is
    none."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.expanduser("~/.local/state")
    for place in (os.path.join(state, "pyexecd-executors"), f"/var/tmp/pyexecd-executors-{os.geteuid()}"):
        if not writable.leads(place) and is_own(place):
            return place
    raise PyexecdError("there is no place for packages outside of what code can write")


def is_own(place: str) -> bool:
    """Whether PLACE is a directory that only this user can write in. It is made if it is missing."""
    try:
        os.makedirs(place, 0o700, exist_ok=True)
        status = os.lstat(place)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022


def made_place(state: str) -> Tuple[str, int]:
    """A new directory in STATE, and a descriptor that holds its lock: until that is closed, no sweep() removes it."""
    while True:
        place = tempfile.mkdtemp(prefix=PREFIX, dir=state)
        try:
            lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # A sweep() has been faster.
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(place):
            return place, lock
        os.close(lock)


def sweep(state: str) -> None:
    """Removes from STATE what programs have left that were killed: nobody holds its lock."""
    for entry in list(os.scandir(state)):
        if not entry.name.startswith(PREFIX) or not entry.is_dir(follow_symlinks=False):
            continue
        try:
            lock = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:  # Another program sweeps, too.
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(entry.path)
        except OSError:  # It is held.
            pass
        finally:
            os.close(lock)


def append(path: str, text: str) -> None:
    """Adds TEXT to the file at PATH, which is made if it is missing. Nothing that is a link is written to."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o644), "w", encoding="utf-8") as file:
        file.write(text)


def remove(directories: Sequence[str], lock: int, process: int) -> None:
    """Removes DIRECTORIES and gives LOCK back, in the process that has made them, and not in one that was forked."""
    if os.getpid() == process:
        for directory in directories:
            remove_tree(directory)
        os.close(lock)


def held(environment: Mapping[str, Any],
         directory: Optional[definition.Directory]) -> Tuple[Mapping[str, Any], Optional[Overlay]]:
    """ENVIRONMENT for code that runs in DIRECTORY (None: a temporary one), and its overlay; or None where code can
    install by itself: in a container, and without a sandbox, which a Python that code can change does not get."""
    writable = Writable(environment, directory)
    if environment.get("type") not in ("system", "venv") or environment.get("isolation") == "none":
        return environment, None
    found = definition.held(environment, writable)
    if found is None:
        return environment, None
    environment, named = found
    kept = definition.of_server(writable)
    environment = {**environment, "read": [*environment.get("read", ()), *kept]} if kept else environment
    made = Overlay(environment, writable, named)
    return made.without_caches(environment), made
