"""How directories go that code has written to, or packages."""

from __future__ import annotations

import os
import subprocess
from typing import Union


def remove_tree(directory: Union["os.PathLike[str]", str]) -> None:
    """Removes DIRECTORY, which may be missing, with all that it holds: also what was made read-only, or deeper than
    functions of Python go, which raise RecursionError. Of a link in its place the link alone goes."""
    execute("find", directory, "-type", "d", "!", "-perm", "-u=rwx", "-execdir", "chmod", "u+rwx", "{}", ";")
    execute("rm", "-rf", directory)


def execute(*command: Union["os.PathLike[str]", str]) -> None:
    """Executes a program of the system, and waits for its end."""
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={"PATH": os.defpath}, start_new_session=True, check=False)
