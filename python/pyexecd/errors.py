"""What this package raises."""

from __future__ import annotations

from typing import Any


class PyexecdError(Exception):
    """The base of all errors of this package."""


class ConnectionLost(PyexecdError):
    """The server cannot be started or reached, has ended, or the client is closed.

    The message has the last lines that a server started by this package wrote to its standard error.
    """


class ConfigurationError(ConnectionLost, RuntimeError):
    """The server has not started, because it does not accept its configuration. The message says what is wrong.

    It is a RuntimeError, too, which is what executors and environments of AutoGen and AG2 raise then."""


class ProtocolError(PyexecdError):
    """The server refused the request itself: a JSON-RPC error.

    `code` is its number (-32602: the parameters do not fit), `data` what came with it, or None.
    """

    def __init__(self, message: str, code: int = 0, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class ToolError(PyexecdError):
    """A tool did not do its work. The message is what a model would read; `result` is the whole result."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class CallRefused(ToolError):
    """Nothing was run: the arguments do not fit, the session has ended, or the server is busy. The message says which.
    """


class CallTimeout(PyexecdError, TimeoutError):
    """No answer came within the `timeout` of the client. The call has been cancelled."""


class CallCancelled(PyexecdError):
    """The event given as `cancel` was set. The call has been cancelled."""
