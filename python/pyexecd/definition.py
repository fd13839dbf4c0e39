"""The keys of an environment, as executors make them of their parameters."""

from __future__ import annotations

import os
import pathlib
import stat
import sys
from types import SimpleNamespace
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import functions as program_functions
from .process import find_program
from .writable import Writable

MOST_BYTES = 64 * 1024
MINORS = range(100)  # of Python 3

Directory = Union[pathlib.Path, str]
Definition = Mapping[str, Any]

# What else than `type` says which Python it is, and what is installed.
PYTHON_KEYS = ("executable", "venv_path", "python_path", "python_version")
PACKAGE_KEYS = ("pip_packages", "requirements_file")
# Of the installer: `system` has none, but what stands on it.
INSTALLER_KEYS = ("allow_source_builds", "pip_find_links", "pip_index_url")


def accepted(definition: Definition) -> Definition:
    """DEFINITION as the server takes it: without a sandbox the network is open, and no key may say so."""
    if definition.get("isolation") == "none" and definition.get("network") is True:
        return without(definition, ["network"])
    return definition


def without(definition: Definition, keys: Iterable[str]) -> Dict[str, Any]:
    """DEFINITION without KEYS."""
    return {key: value for key, value in definition.items() if key not in keys}


def beneath(definition: Definition) -> Definition:
    """DEFINITION without what only an environment on top of it can have."""
    return without(definition, INSTALLER_KEYS) if definition.get("type") == "system" else definition


def local(python: str) -> Dict[str, Any]:
    """The environment of PYTHON, a program of this machine."""
    return {"type": "system", "executable": python, "network": True}


def of_program(context: Optional[SimpleNamespace], functions: Iterable[Any], settings: Definition) -> Dict[str, Any]:
    """The environment of the virtual environment CONTEXT, else of this program with the packages of FUNCTIONS; and
    SETTINGS."""
    packages = program_functions.packages(functions)
    keys = local(sys.executable)
    if context:
        root = pathlib.Path(os.path.abspath(context.env_exe)).parent.parent
        keys = {"type": "venv", "venv_path": os.path.realpath(root), "network": True}
    elif packages:
        keys = {"type": "venv", "python_path": sys.executable, "system_site_packages": True, "pip_packages": packages,
                "network": True}
    return {**keys, **settings}


def held(definition: Definition, writable: Writable) -> Optional[Tuple[Definition, List[str]]]:
    """DEFINITION for code that can write in WRITABLE. Code could change a Python that lies there, or what leads to one,
    so the Python of this program takes its place; then the second is where the packages of that version are. None: this
    program's Python lies there, too."""
    python = python_of(definition)
    if python is None or not any(map(writable.leads, pythons(python))):
        return definition, []
    own = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    if writable.leads(own):
        return None
    root = pathlib.Path(python).parent.parent
    packages = root.resolve() / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"
    named = [each for each in packages_in(root) if each == str(packages) and is_line(each)]
    return {**without(definition, PYTHON_KEYS), "type": "venv", "python_path": own}, named


def of_server(writable: Writable) -> List[str]:
    """What of this program's Python, of this package and of its server lies in WRITABLE. It runs outside of the sandbox
    when something is installed, at the latest, so code may only read it."""
    programs = os.path.dirname(os.path.realpath(find_program()))
    helpers = os.path.join(programs, os.pardir, "libexec", "pyexecd")
    folders = map(os.path.realpath, (sys.prefix, os.path.dirname(__file__), programs, helpers))
    return [path for path in dict.fromkeys(folders) if os.path.isdir(path) and writable.holds(path)]


def is_line(path: str) -> bool:
    """Whether PATH can stand in a `.pth` file: it is one line there, and UTF-8."""
    return path.splitlines() == [path] and path.encode(errors="replace").decode() == path


def pythons(python: str) -> List[str]:
    """PYTHON, and the directory of the one that its virtual environment is made of."""
    root = virtual_environment(python)
    lines = beginning(root / "pyvenv.cfg").decode(errors="replace").splitlines() if root else []
    homes = [value.strip() for name, _, value in (line.partition("=") for line in lines) if name.strip() == "home"]
    return [python, *homes]


def virtual_environment(python: str) -> Optional[pathlib.Path]:
    """The virtual environment that PYTHON is the interpreter of, or None."""
    root = pathlib.Path(python).parent.parent
    return root if (root / "pyvenv.cfg").is_file() else None


def packages_in(root: pathlib.Path) -> List[str]:
    """The directories of packages in the virtual environment at ROOT. None of them is a link, or behind one."""
    lib = os.path.join(os.path.realpath(root), "lib")
    paths = [os.path.join(lib, f"python3.{minor}", "site-packages") for minor in MINORS]
    return [path for path in paths if os.path.isdir(path) and os.path.realpath(path) == path]


def on_top(definition: Definition, path: str, writable: Sequence[str]) -> Dict[str, Any]:
    """A virtual environment at PATH on top of the Python of DEFINITION, with the packages that DEFINITION installs.
    WRITABLE are the packages of a virtual environment whose Python it is not."""
    python = python_of(definition)
    keys = without(definition, PYTHON_KEYS) if python else dict(definition)
    folders = packages_beneath(definition)
    keys.update({"type": "venv", "venv_path": path, "system_site_packages": shows_system([*writable, *folders])})
    if python:
        keys["python_path"] = python
    return keys


def packages_beneath(definition: Definition) -> List[str]:
    """The directories of packages of the virtual environment whose Python DEFINITION names, if it is in one."""
    python = python_of(definition)
    root = virtual_environment(python) if python else None
    return packages_in(root) if root else []


def lacks_packages(definition: Definition) -> bool:
    """Whether DEFINITION installs packages on top of a virtual environment, whose own ones a server does not show."""
    return any(key in definition for key in PACKAGE_KEYS) and bool(packages_beneath(definition))


def shows_system(packages: Sequence[str]) -> bool:
    """Whether the virtual environment with the directories PACKAGES shows the packages of its Python, too; without any,
    there is none that hides them."""
    files = [pathlib.Path(folder).parents[2] / "pyvenv.cfg" for folder in packages]
    beginnings = [beginning(file).lower() for file in files]
    return all(b"include-system-site-packages = true" in each for each in beginnings if each)


def beginning(path: pathlib.Path) -> bytes:
    """The first bytes of the file at PATH, which code may have made anything; none of what is no file or a link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with open(descriptor, "rb") as file:
        return file.read(MOST_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


def python_of(definition: Definition) -> Optional[str]:
    """The path of the Python of DEFINITION, or None if the server chooses it."""
    if "venv_path" in definition:
        return os.path.join(definition["venv_path"], "bin", "python")
    named: Optional[str] = definition.get("python_path") or definition.get("executable")
    return os.path.abspath(named) if named else None
