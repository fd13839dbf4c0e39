"""What a call sends, and how the parts of a long answer are put together: the same for both clients."""

from __future__ import annotations

import base64
import os
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .configuration import Config, Path
from .connection import OUTPUT, PROTOCOL_VERSION, Transport
from .process import Command, Process
from .provided_files import Files, listed
from .results import File, listed_file

START_SECONDS = 60.0  # for the handshake
READ_BYTES = 1 << 20  # the server answers no more at a time

Blocks = Union[Sequence[Union[Tuple[str, str], Mapping[str, Any]]], None]


def chosen_transport(command: Command, config: Config, url: Optional[str], socket: Optional[Path],
                     token: Optional[str], environ: Optional[Mapping[str, str]], cwd: Optional[Path]) -> Transport:
    """The transport that the arguments of a client mean. Raises ValueError if they contradict each other, and TypeError
    if one is of another type."""
    starts = [name for name, value in (("command", command), ("config", config), ("environ", environ), ("cwd", cwd))
              if value is not None]
    if url is not None and socket is not None:
        raise ValueError("url= and socket= name two servers")
    if starts and (url is not None or socket is not None):
        raise ValueError(f"{starts[0]}= is for a server that is started; url= and socket= name one that runs already")
    if token is not None and url is None:
        raise ValueError("token= is for a server that url= names")
    if url is not None:
        return _transport_of(url, token)
    if socket is not None:
        return _socket(os.fspath(socket))
    return Process(command, config, environ, cwd)


def _socket(path: str) -> Transport:
    from .stream import Stream
    if path.startswith("unix:"):
        raise ValueError(f"socket= is the path of a unix socket; write url={path!r}")
    return Stream(path, None)


def _transport_of(url: str, token: Optional[str]) -> Transport:
    """Also of an address as the server's key `listen` has it, such as tcp:host:port."""
    if not isinstance(url, str):
        raise TypeError(f"url must be str, not {type(url).__name__}; socket= takes the path of a unix socket")
    from urllib.parse import unquote, urlsplit
    parts = urlsplit(re.sub("^tcp:(?!//)", "tcp://", url))
    if parts.scheme in ("http", "https") and parts.hostname or parts.scheme == "unix" and parts.path and parts.fragment:
        from .web import Web
        return Web(url, token)
    if parts.scheme == "unix" and parts.path:
        return _socket(unquote(parts.path))
    if parts.scheme == "tcp" and parts.hostname and parts.port:
        from .stream import Stream
        return Stream((parts.hostname, parts.port), token)
    raise ValueError(f"no address of a server: {url}; write http://host:port/mcp, https://host/mcp, tcp://host:port or "
                     "unix:/path, or give the path of a unix socket as socket=")


def initialize(code_alone: bool = False) -> Dict[str, Any]:
    """The parameters of the handshake. CODE_ALONE: a model writes the code of each call, and none of its arguments."""
    return {"protocolVersion": PROTOCOL_VERSION,
            "capabilities": {"experimental": {"pyexecd/code-alone": {}}} if code_alone else {},
            "clientInfo": {"name": "pyexecd for Python", "version": "1"}}


def tool_call(name: str, arguments: Mapping[str, Any], wants_output: bool) -> Dict[str, Any]:
    """The parameters of a call. Null arguments are as good as none."""
    meta: Dict[str, Any] = {"pyexecd/results": "structured"}
    if wants_output:
        meta[OUTPUT] = True
    return {"name": name, "arguments": {key: value for key, value in arguments.items() if value is not None},
            "_meta": meta}


def run_arguments(code: str, environment: Optional[str], definition: Optional[Mapping[str, Any]],
                  timeout: Optional[float], files: Files, working_directory: Optional[str],
                  session: Optional[str], fork: Optional[str]) -> Dict[str, Any]:
    """The arguments of `run_python`. Raises TypeError if CODE or one of FILES is of another type."""
    if not isinstance(code, str):
        raise TypeError(f"code must be str, not {type(code).__name__}")
    return {"code": code, "environment": environment, "environment_definition": definition, "timeout": timeout,
            "files": listed(files), "working_directory": working_directory, "session": session, "fork": fork}


def block_arguments(blocks: Blocks, message: Optional[str], environment: Optional[str],
                    definition: Optional[Mapping[str, Any]], timeout: Optional[float],
                    working_directory: Optional[str]) -> Dict[str, Any]:
    """The arguments of `run_code_blocks`."""
    listed = None
    if blocks is not None:
        listed = [dict(block) if isinstance(block, Mapping) else {"language": block[0], "code": block[1]}
                  for block in blocks]
    return {"blocks": listed, "message": message, "environment": environment, "environment_definition": definition,
            "timeout": timeout, "working_directory": working_directory}


def listed_files(resources: Sequence[Mapping[str, Any]], working_directory: Optional[str]) -> List[File]:
    """RESOURCES as files: all, or those in WORKING_DIRECTORY."""
    from urllib.parse import quote
    prefix = "pyexecd://" + (quote(working_directory, safe="") + "/" if working_directory else "")
    return [listed_file(resource) for resource in resources if resource["uri"].startswith(prefix)]


class FileReading:
    """Puts a file together from the pieces that the server gives. `next_uri` is what to ask for, None at the end."""

    def __init__(self, file: Union[File, str]) -> None:
        self._uri = (file.uri if isinstance(file, File) else file).partition("?")[0]
        self.data = bytearray()
        self.next_uri: Optional[str] = self._piece()

    def add(self, answer: Mapping[str, Any]) -> None:
        """ANSWER is the result of `resources/read` for `next_uri`."""
        contents = answer["contents"][0]
        piece = base64.b64decode(contents["blob"]) if "blob" in contents else contents["text"].encode()
        self.data += piece
        size = contents["_meta"]["pyexecd/range"]["size"]
        self.next_uri = self._piece() if piece and len(self.data) < size else None

    def _piece(self) -> str:
        return f"{self._uri}?offset={len(self.data)}&length={READ_BYTES}"
