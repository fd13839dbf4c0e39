"""The keys of an environment, as executors make them of their parameters."""

from __future__ import annotations

import os
import pathlib
import sys
from types import SimpleNamespace
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import functions as program_functions

MOST_BYTES = 64 * 1024

Directory = Union[pathlib.Path, str]
Definition = Mapping[str, Any]

# What else than `type` says which Python it is, and what is installed.
PYTHON_KEYS = ("executable", "venv_path", "python_path")
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


def held(definition: Definition, directory: Directory) -> Tuple[Definition, List[str]]:
    """DEFINITION for code that runs in DIRECTORY. Code could change a virtual environment that lies there, and what its
    files say, so the Python that it is made of takes its place; then the second is where its packages are."""
    python = python_of(definition)
    root = pathlib.Path(python).parent.parent if python else None
    if root is None or definition.get("isolation") == "none" or not is_within(root, directory):
        return definition, []
    writable = packages_in(root)
    base = base_of(writable)
    if is_within(base.get("python_path", os.sep), directory):
        return definition, []
    return {**without(definition, PYTHON_KEYS), "type": "venv", **base}, writable


def base_of(packages: Sequence[str]) -> Dict[str, str]:
    """The Python that the virtual environment with the directories PACKAGES is made of: this program's own, or one of
    the same version that the server knows."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    named = [pathlib.Path(path).parent.name[len("python"):] for path in packages]
    if named and version not in named:
        return {"python_version": named[0]}
    return {"python_path": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)}


def is_within(path: Directory, directory: Directory) -> bool:
    """Whether PATH is DIRECTORY or lies in it, by its name or by where links lead."""
    places = {os.path.abspath(directory), os.path.realpath(directory)}
    return any(os.path.commonpath([place, each]) == place
               for place in places for each in (os.path.abspath(path), os.path.realpath(path)))


def virtual_environment(python: str) -> Optional[pathlib.Path]:
    """The virtual environment that PYTHON is the interpreter of, or None."""
    root = pathlib.Path(python).parent.parent
    return root if (root / "pyvenv.cfg").is_file() else None


def packages_in(root: pathlib.Path) -> List[str]:
    """The directories of packages of the virtual environment at ROOT, as code sees them: no link is shown to it. A path
    of two lines would be two lines of a `.pth` file."""
    paths = [str(path.resolve()) for path in sorted(root.glob("lib/python3*/site-packages"))]
    return [path for path in paths if "\n" not in path and "\r" not in path]


def on_top(definition: Definition, path: str, writable: Sequence[str]) -> Dict[str, Any]:
    """A virtual environment at PATH on top of the Python of DEFINITION, with the packages that DEFINITION installs.
    WRITABLE are the packages of a virtual environment whose Python it is not."""
    keys = without(definition, PYTHON_KEYS)
    python = python_of(definition)
    folders = packages_beneath(definition)
    keys.update({"type": "venv", "venv_path": path, "system_site_packages": shows_system([*writable, *folders])})
    if python:
        keys["python_path"] = python
    return keys


def shown(definition: Definition) -> List[str]:
    """What code has to see of the packages beneath that DEFINITION names, beside the Python of a virtual environment on
    top of them."""
    folders = packages_beneath(definition)
    return [*folders, *led_to(folders)]


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
    return all(b"include-system-site-packages = true" in beginning(file).lower() for file in files if file.is_file())


def beginning(path: pathlib.Path) -> bytes:
    """The first bytes of the file at PATH, which code may have made larger than any memory."""
    with open(path, "rb") as file:
        return file.read(MOST_BYTES)


def led_to(folders: Iterable[str]) -> List[str]:
    """The directories that the `.pth` files in FOLDERS name, but those that the server shows to no code: a home as a
    whole."""
    lines = [(folder, line.strip()) for folder in folders for file in sorted(pathlib.Path(folder).glob("*.pth"))
             for line in file.read_text(errors="replace").splitlines()]
    paths = [os.path.join(folder, line) for folder, line in lines if line and not line.startswith(("import ", "#"))]
    return [path for path in dict.fromkeys(map(os.path.realpath, paths))
            if os.path.isdir(path) and path not in folders and not is_within(pathlib.Path.home(), path)]


def python_of(definition: Definition) -> Optional[str]:
    """The path of the Python of DEFINITION, or None if the server chooses it."""
    if "venv_path" in definition:
        return os.path.join(definition["venv_path"], "bin", "python")
    named: Optional[str] = definition.get("python_path") or definition.get("executable")
    return os.path.abspath(named) if named else None
