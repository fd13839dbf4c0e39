"""The configuration of a server that a program starts: what the program says, and what it leaves out.

By default sessions and code blocks are on, and code runs in the program's own Python, which has its packages.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Mapping, Optional, Union

Path = Union[str, "os.PathLike[str]"]
Config = Union[Path, Mapping[str, Any], None]


def _defaults() -> Dict[str, Any]:
    environment = {"type": "system", "executable": sys.executable} if sys.executable else {"type": "system"}
    return {"sessions": {}, "code_blocks": {}, "environments": {"system": environment}}


def filled(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """CONFIG with the defaults of what it does not have. A key that is None is left to the server."""
    return {key: value for key, value in {**_defaults(), **config}.items() if value is not None}


def users_own(environ: Optional[Mapping[str, str]]) -> bool:
    """Whether a server with the variables ENVIRON, or those of this process, finds a configuration by itself."""
    variables = os.environ if environ is None else environ
    home = variables.get("HOME", "")
    folder = variables.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(folder):
        folder = os.path.join(home, ".config") if os.path.isabs(home) else ""
    places = [os.path.join(folder, "pyexecd", "config.yaml")] if folder else []
    return bool(variables.get("PYEXECD_CONFIG")) or any(map(os.path.exists, [*places, "/etc/pyexecd/config.yaml"]))
