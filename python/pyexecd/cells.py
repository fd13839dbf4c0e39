"""Cells of a session as AutoGen's Jupyter executors run them, and the servers that its programs make for them."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import sys
import weakref
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from . import containers, definition, overlay
from .place import Place
from .results import Result

KERNEL = "python3"
TIMEOUT = "ERROR: Timeout waiting for output from code block."
IMAGE = "python:3-slim"


def check(timeout: float, kernel_name: str) -> None:
    """Raises ValueError for a timeout or a kernel that cannot be had."""
    if timeout < 1:
        raise ValueError("Timeout must be greater than or equal to 1.")
    if kernel_name != KERNEL:
        raise ValueError(f"Kernel {kernel_name} is not installed: sessions run Python")


def told(result: Result) -> List[str]:
    """The texts of RESULT, of a cell: what it printed if that is whole, else the text for models, behind AutoGen's
    words where its time was over."""
    if result.status in ("success", "failure") and not result.structured["truncated"]:
        return [text for text in (result.stdout, result.stderr) if text]
    return [TIMEOUT, result.text] if result.status == "timeout" else [result.text]


def output_files(result: Result, directory: Union[pathlib.Path, str]) -> List[Tuple[str, str]]:
    """The pictures and HTML files that a cell has made or changed in DIRECTORY: pairs of what AutoGen calls such a
    file and its path."""
    kinds = {file.path: "HTML" if file.mime_type.startswith("text/html") else "Image" for file in result.files
             if file.mime_type.startswith(("image/", "text/html"))}
    return [(kind, os.path.join(os.path.abspath(directory), path)) for path, kind in kinds.items()]


def place(environment: Mapping[str, Any], directory: Union[pathlib.Path, str], timeout: float) -> Place:
    """A place for one session, whose cells can install packages where that does not change ENVIRONMENT."""
    environment, packages = overlay.held(environment, directory)
    shown = packages.shown_in(environment) if packages else environment
    return Place(shown, directory, timeout, overlay=packages)


@dataclasses.dataclass
class JupyterConnectionInfo:
    """What AutoGen's servers tell of themselves. An executor finds the server by it; nothing listens there."""

    host: str
    use_https: bool
    port: Optional[int] = None
    token: Optional[str] = None
    server: Any = dataclasses.field(default=None, repr=False, compare=False)


class JupyterServer:
    """What AutoGen's servers have in common. ENVIRONMENT has the keys in which sessions run; each executor has a
    server of ours, which this one ends with itself."""

    class GenerateToken:
        """AutoGen's default of a token. There is none, as nothing listens."""

    def __init__(self, environment: Mapping[str, Any], settings: Optional[Mapping[str, Any]], host: str = "127.0.0.1",
                 port: Optional[int] = None) -> None:
        self.environment: Dict[str, Any] = {**environment, **(settings or {})}
        self._places: weakref.WeakSet[Place] = weakref.WeakSet()
        self._info = JupyterConnectionInfo(host, False, port, None, self)

    @property
    def connection_info(self) -> JupyterConnectionInfo:
        """What an executor takes in place of this object."""
        return self._info

    def adopt(self, place: Place) -> Place:
        """Ends PLACE together with this server."""
        self._places.add(place)
        return place

    def close(self) -> None:
        """Ends the sessions of all its executors."""
        for place in list(self._places):
            place.close()


def local_environment() -> Dict[str, Any]:
    """The keys of sessions on this machine."""
    return definition.local(sys.executable)


def container_environment(image: Optional[str], container_name: Optional[str], auto_remove: bool, stop_container: bool,
                          variables: Optional[Mapping[str, str]]) -> Dict[str, Any]:
    """The keys of sessions in containers, from AutoGen's parameters. Raises ValueError for what cannot be had."""
    containers.check_end(stop_container)
    name = container_name or "autogen-jupyterkernelgateway"
    return {"type": "docker", "image": image or IMAGE, "network": "bridge", "container_name_prefix": f"{name}-",
            "cleanup_container": auto_remove, "environment": dict(variables or {})}


def server_of(jupyter_server: Any) -> Any:
    """The server behind what a program has handed to an executor. Raises ValueError for one of Jupyter's own."""
    info = getattr(jupyter_server, "connection_info", jupyter_server)
    server = getattr(info, "server", None)
    if server is None:
        raise ValueError("jupyter_server must be a JupyterConnectable or JupyterConnectionInfo of pyexecd: a server "
                         "of Jupyter's own is not connected to")
    return server
