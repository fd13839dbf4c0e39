"""pyexecd runs Python that language models write. This is its client for Python programs.

    import pyexecd

    with pyexecd.Client() as client:
        print(client.run_python("print(6 * 7)").text)
"""

from importlib import metadata

from .async_client import AsyncClient, AsyncSession
from .client import Client, Session
from .errors import CallCancelled, CallTimeout, ConnectionLost, ProtocolError, PyexecdError, ToolError
from .results import BlockResult, CodeBlocksResult, File, Image, Result, ToolResult

try:
    __version__ = metadata.version("pyexecd")
except metadata.PackageNotFoundError:  # used from the source tree
    __version__ = "0"

__all__ = [
    "AsyncClient", "AsyncSession", "BlockResult", "CallCancelled", "CallTimeout", "Client", "CodeBlocksResult",
    "ConnectionLost", "File", "Image", "ProtocolError", "PyexecdError", "Result", "Session", "ToolError", "ToolResult",
]
