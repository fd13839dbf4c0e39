"""What a call sends, and how the parts of a long answer are put together: the same for both clients."""

from __future__ import annotations

import base64
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union
from urllib.parse import quote, unquote, urlsplit

from .connection import PROTOCOL_VERSION, Transport
from .process import Process
from .results import File, listed_file
from .stream import Stream
from .web import Web

START_SECONDS = 60.0  # for the handshake
READ_BYTES = 1 << 20  # the server answers no more at a time

Content = Union[str, bytes]
Files = Union[Mapping[str, Content], Sequence[Mapping[str, Any]], None]
Blocks = Union[Sequence[Union[Tuple[str, str], Mapping[str, Any]]], None]


def chosen_transport(command: Union[Sequence[str], str, None], config: Union[str, Mapping[str, Any], None],
                     url: Optional[str], socket: Optional[str], token: Optional[str],
                     environ: Optional[Mapping[str, str]], cwd: Optional[str]) -> Transport:
    """The transport that the arguments of a client mean. Raises ValueError if they contradict each other."""
    if (url is not None) + (socket is not None) + (command is not None or config is not None) > 1:
        raise ValueError("give one of url, socket, and command with config")
    if socket is not None:
        return Stream(os.fspath(socket), None)
    if url is not None:
        return _transport_of(url, token)
    return Process(command, config, environ, cwd)


def _transport_of(url: str, token: Optional[str]) -> Transport:
    parts = urlsplit(url)
    if parts.scheme in ("http", "https") or parts.scheme == "unix" and parts.fragment:
        return Web(url, token)
    if parts.scheme == "unix" and parts.path:
        return Stream(unquote(parts.path), None)
    if parts.scheme == "tcp" and parts.hostname and parts.port:
        return Stream((parts.hostname, parts.port), token)
    raise ValueError(f"no address of a server: {url}; write http://, https://, unix:/path or tcp://host:port")


def initialize(code_alone: Optional[Dict[str, bool]] = None) -> Dict[str, Any]:
    """The parameters of the handshake. CODE_ALONE: a model writes the code of each call, and none of its arguments;
    with "installs" it can install packages by a command."""
    return {"protocolVersion": PROTOCOL_VERSION,
            "capabilities": {} if code_alone is None else {"experimental": {"pyexecd/code-alone": code_alone}},
            "clientInfo": {"name": "pyexecd for Python", "version": "1"}}


def tool_call(name: str, arguments: Mapping[str, Any]) -> Dict[str, Any]:
    """The parameters of a call. Null arguments are as good as none."""
    return {"name": name, "arguments": {key: value for key, value in arguments.items() if value is not None},
            "_meta": {"pyexecd/results": "structured"}}


def run_arguments(code: str, environment: Optional[str], definition: Optional[Mapping[str, Any]],
                  timeout: Optional[float], files: Files, working_directory: Optional[str],
                  session: Optional[str], fork: Optional[str]) -> Dict[str, Any]:
    """The arguments of `run_python`."""
    return {"code": code, "environment": environment, "environment_definition": definition, "timeout": timeout,
            "files": _provided(files), "working_directory": working_directory, "session": session, "fork": fork}


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


def _provided(files: Files) -> Optional[List[Dict[str, Any]]]:
    if files is None:
        return None
    if not isinstance(files, Mapping):
        return [dict(file) for file in files]
    return [{"path": path, "text": content} if isinstance(content, str)
            else {"path": path, "blob": base64.b64encode(content).decode()} for path, content in files.items()]


def listed_files(resources: Sequence[Mapping[str, Any]], working_directory: Optional[str]) -> List[File]:
    """RESOURCES as files: all, or those in WORKING_DIRECTORY."""
    prefix = "pyexecd://" + (quote(working_directory, safe="") + "/" if working_directory else "")
    return [listed_file(resource) for resource in resources if resource["uri"].startswith(prefix)]


class FileReading:
    """Puts a file together from the pieces that the server gives. `next_uri` is what to ask for, None at the end."""

    def __init__(self, uri: str) -> None:
        self._uri = uri.partition("?")[0]
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
