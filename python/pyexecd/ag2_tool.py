"""AG2's class of tools, as `register_function` and agents of AG2 0.9 to 0.14 take it."""

import typing

from autogen.tools import Tool

from . import ag2

__all__ = ["PythonCodeExecutionTool"]


class PythonCodeExecutionTool(Tool):
    """Runs Python code of a model. TIMEOUT, in seconds, is that of each call; WORKING_DIRECTORY and
    PYTHON_ENVIRONMENT are by default those of the enclosing `with`. Raises AssertionError without them, and
    ConfigurationError if they cannot be used."""

    def __init__(self, *, timeout: float = 30, working_directory: typing.Optional[ag2.WorkingDirectory] = None,
                 python_environment: typing.Optional[ag2.PythonEnvironment] = None) -> None:
        held = ag2.Tool(timeout, working_directory, python_environment)
        self.timeout = timeout
        self.working_directory = held.working_directory
        self.python_environment = held.python_environment

        # The annotations are what a model is told.
        async def python_execute_code(
            code_execution_request: typing.Annotated[
                ag2.CodeExecutionRequest, "Python code and the libraries required"],
        ) -> str:
            return await held.run(code_execution_request.code)

        super().__init__(name="python_execute_code", description=ag2.DESCRIPTION, func_or_tool=python_execute_code)
