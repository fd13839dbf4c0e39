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
    refused: Tuple[str, ...] = INSTALLER_KEYS if definition.get("type") == "system" else ()
    if definition.get("isolation") == "none" and definition.get("network") is True:
        refused = (*refused, "network")
    return {key: value for key, value in definition.items() if key not in refused}


def local(python: str) -> Dict[str, Any]:
    """The environment of PYTHON, a program of this machine."""
    return {"type": "system", "executable": python, "network": True}


def of_program(context: Optional[SimpleNamespace], functions: Iterable[Any], directory: Directory,
               settings: Definition) -> Tuple[Dict[str, Any], List[str]]:
    """The environment of code that runs in DIRECTORY: that of the virtual environment CONTEXT, else of this program
    with the packages of FUNCTIONS; and SETTINGS. Code could change a virtual environment that lies in DIRECTORY, so the
    Python that it is made of takes its place; then the second is where its packages are."""
    python = os.path.abspath(context.env_exe if context else sys.executable)
    root = virtual_environment(python)
    is_open = settings.get("isolation") == "none" or not {"type", *PYTHON_KEYS}.isdisjoint(settings)
    writable = packages_in(root) if root and not is_open and is_within(root, directory) else []
    if context and not writable:
        return {"type": "venv", "venv_path": os.path.realpath(pathlib.Path(python).parent.parent), "network": True,
                **settings}, []
    used = base_of(writable[0]) if writable else local(sys.executable)
    packages = [] if context else program_functions.packages(functions)
    return {**(with_packages(used, packages) if packages else used), **settings}, writable


def with_packages(definition: Definition, packages: List[str]) -> Dict[str, Any]:
    """A virtual environment with PACKAGES, which the server keeps, on top of the Python of DEFINITION."""
    python = {"python_path": definition["executable"]} if "executable" in definition else {}
    keys = {key: value for key, value in definition.items() if key != "executable"}
    return {**keys, **python, "type": "venv", "system_site_packages": True, "pip_packages": packages}


def base_of(packages: str) -> Dict[str, Any]:
    """The environment of the Python that the virtual environment with the directory PACKAGES is made of. As code could
    have changed what its files say, it is this program's own, or one of the same version that the server knows."""
    version = pathlib.Path(packages).parent.name[len("python"):]
    if version != f"{sys.version_info.major}.{sys.version_info.minor}":
        return {"type": "venv", "python_version": version, "network": True}
    return local(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))


def is_within(path: Directory, directory: Directory) -> bool:
    """Whether PATH is DIRECTORY or lies in it."""
    real = pathlib.Path(directory).resolve()
    path = pathlib.Path(path).resolve()
    return real == path or real in path.parents


def virtual_environment(python: str) -> Optional[pathlib.Path]:
    """The virtual environment that PYTHON is the interpreter of, or None."""
    root = pathlib.Path(python).parent.parent
    return root if (root / "pyvenv.cfg").is_file() else None


def packages_in(root: pathlib.Path) -> List[str]:
    """The directories of packages of the virtual environment at ROOT, as code sees them: no link is shown to it."""
    return [str(path.resolve()) for path in sorted(root.glob("lib/python3*/site-packages"))]


def on_top(definition: Definition, path: str, writable: Sequence[str]) -> Tuple[Dict[str, Any], List[str]]:
    """A virtual environment at PATH, without packages, on top of the Python of DEFINITION; and the directories of
    packages that it has to show, too, where that Python is one of a virtual environment itself. WRITABLE are those of a
    virtual environment whose Python it is not."""
    keys = {key: value for key, value in definition.items() if key not in (*PYTHON_KEYS, *PACKAGE_KEYS)}
    python = python_of(definition)
    root = virtual_environment(python) if python else None
    beneath = packages_in(root) if root else []
    keys.update({"type": "venv", "venv_path": path, "system_site_packages": shows_system([*writable, *beneath])})
    if python:
        keys["python_path"] = python
    if beneath:
        keys["read"] = [*keys.get("read", ()), *beneath, *led_to(beneath)]
    return keys, beneath


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
