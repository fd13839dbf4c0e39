"""A virtual environment on top of an executor's Python, for what its code installs.

Code of the executor can read it, and only the server's installer writes it: in a sandbox that reaches the package index
and nothing else. The Python beneath stays as it is.
"""

from __future__ import annotations

import asyncio
import os
import pathlib
import shutil
import tempfile
import weakref
from typing import Any, List, Mapping, Optional, Sequence, Tuple

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


class Overlay:
    """ENVIRONMENT has the keys of the environment beneath; WRITABLE are further directories of packages, in which code
    can write. Everything is gone with remove() or with this object."""

    def __init__(self, environment: Mapping[str, Any], writable: Sequence[str] = ()) -> None:
        self.directory = tempfile.mkdtemp(prefix="pyexecd-")
        # In a sandbox this is a name in a /tmp of its own; without one nobody else can have made it.
        self._cache = tempfile.mkdtemp(prefix="pyexecd-matplotlib-", dir="/tmp")
        self.remove = weakref.finalize(self, remove, [self.directory, self._cache], os.getpid())
        self._path = pathlib.Path(self.directory, "venv")
        keys, self._beneath = definition.on_top(environment, str(self._path), writable)
        self.environment = self.without_caches(keys)
        has_network = self.environment.get("network") is True
        self._installing = definition.without(self.environment, ["network"] if has_network else [])
        self._packages = {key: environment[key] for key in definition.PACKAGE_KEYS if key in environment}
        self._writable = list(writable)
        self._lock: Optional[asyncio.Lock] = None
        self._is_made = False
        self.is_used = bool(writable or (self._packages and self._beneath))

    @property
    def folder(self) -> str:
        """The directory of the packages."""
        return definition.packages_in(self._path)[0]

    @property
    def entry(self) -> str:
        """The code by which a Python finds the packages that has started without them."""
        return f"__import__('sys').path.insert(0, {self.folder!r})"

    def without_caches(self, environment: Mapping[str, Any]) -> Mapping[str, Any]:
        """ENVIRONMENT, whose code leaves no settings and fonts of matplotlib in its directory."""
        variables = {"MPLCONFIGDIR": self._cache, **environment.get("environment", {})}
        return {**environment, "environment": variables}

    def shown_in(self, environment: Mapping[str, Any]) -> Mapping[str, Any]:
        """ENVIRONMENT, whose code can read the packages, as soon as there are some."""
        return {**environment, "read": [*environment.get("read", ()), self.directory]}

    async def is_to_be_used(self) -> bool:
        """Whether code is to run in it; it is made then. Raises PyexecdError if it cannot be made."""
        async with self._turn():
            if self.is_used:
                await self._make()
        return self.is_used

    async def _make(self) -> None:
        if self._is_made:
            return
        await self._prepare(self.environment)
        lines = [*(f"import site; site.addsitedir({path!r})" for path in self._beneath), *self._writable]
        if lines:
            pathlib.Path(self.folder, PATHS).write_text("\n".join(lines) + "\n")
        if self._packages:
            await self._prepare({**self._installing, **self._packages})
        self._is_made = True

    async def _prepare(self, environment: Mapping[str, Any]) -> None:
        prepared = await self._run(environment, "")
        if prepared.is_error:
            raise PyexecdError(prepared.text)

    async def _run(self, environment: Mapping[str, Any], code: str) -> Result:
        """Runs CODE in a server of its own, which prepares ENVIRONMENT."""
        config = {"environments": {"packages": definition.accepted(environment)}, "default_environment": "packages"}
        async with AsyncClient(config=config) as client:
            return await client.run_python(code)

    async def install(self, requirements: List[str]) -> Tuple[bool, str]:
        """Has the server install REQUIREMENTS. Whether they are there, and what to say of that."""
        async with self._turn():
            try:
                await self._make()
                wanted = {**self._installing, "pip_packages": requirements}
                result = await self._run(wanted, REPORT.format(requirements))
            except PyexecdError as error:
                return False, str(error)
            self.is_used = self.is_used or not result.is_error
            return not result.is_error, result.text.removeprefix(FAILED) if result.is_error else result.stdout

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
    made = Overlay(environment, writable)
    return made.without_caches(environment), made
