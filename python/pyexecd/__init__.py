"""pyexecd runs Python that language models write. This is its client for Python programs.

    import pyexecd

    with pyexecd.Client() as client:
        print(client.run_python("print(6 * 7)").text)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .client import Client, Session
from .errors import (CallCancelled, CallRefused, CallTimeout, ConfigurationError, ConnectionLost, ProtocolError,
                     PyexecdError, ToolError)
from .results import BlockResult, CodeBlocksResult, File, Image, Result, ToolResult
from .runs import Runs

if TYPE_CHECKING:
    from .async_client import AsyncClient, AsyncSession
    from .async_runs import AsyncRuns

    __version__: str

__all__ = [
    "AsyncClient", "AsyncRuns", "AsyncSession", "BlockResult", "CallCancelled", "CallRefused", "CallTimeout", "Client",
    "CodeBlocksResult", "ConfigurationError", "ConnectionLost", "File", "Image", "ProtocolError", "PyexecdError",
    "Result", "Runs", "Session", "ToolError", "ToolResult",
]


def _version() -> str:
    from importlib import metadata
    try:
        return metadata.version("pyexecd")
    except metadata.PackageNotFoundError:  # used from the source tree
        return "0"


def __getattr__(name: str) -> Any:
    """What takes long to import, and not every program needs: asyncio, and the version of the package."""
    if name in ("AsyncClient", "AsyncSession"):
        from . import async_client
        found: Any = getattr(async_client, name)
    elif name == "AsyncRuns":
        from . import async_runs
        found = async_runs.AsyncRuns
    elif name == "__version__":
        found = _version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found
