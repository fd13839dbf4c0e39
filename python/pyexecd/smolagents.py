"""An executor for the CodeAgent of smolagents, whose code runs in a session of pyexecd.

    from pyexecd.smolagents import SessionExecutor

    with CodeAgent(tools=[], model=model, executor=SessionExecutor()) as agent:
        agent.run("How many primes are below 1000?")

Variables stay from step to step, as in smolagents' own executors. Tools run where the code of the model runs: they have
its rights, and none of the program's variables.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Dict, List, Mapping, Optional

from smolagents.local_python_executor import CodeOutput
from smolagents.monitoring import AgentLogger, LogLevel
from smolagents.remote_executors import RemotePythonExecutor
from smolagents.utils import AgentError

from .place import Place

__all__ = ["SessionExecutor"]

# The tool final_answer() ends the code, by an exception with the answer as JSON, or as text if it has no such form.
END = """
def final_answer(*arguments, _answered=final_answer, **named):
    import json

    class FinalAnswer(BaseException):
        pass

    answer = _answered(*arguments, **named)
    try:
        text = json.dumps(answer)
    except (TypeError, ValueError):
        text = json.dumps(str(answer))
    raise FinalAnswer(text)
"""
FINAL_ANSWER = re.compile(r"^\S*FinalAnswer: (.*)\Z", re.MULTILINE)


class SessionExecutor(RemotePythonExecutor):
    """Runs code in ENVIRONMENT, a dictionary with the keys of docs/configuration.md: by default the Python of this
    program, without a network. TIMEOUT bounds each step, in seconds. The session begins with the first step and ends
    with cleanup(), which an agent calls at the end of its `with`.

    A step that fails raises AgentError with what a model can go on with."""

    def __init__(self, environment: Optional[Mapping[str, Any]] = None, *, timeout: float = 60) -> None:
        super().__init__([], AgentLogger(LogLevel.OFF))
        self._place = Place(environment or {"type": "system", "executable": sys.executable}, None, timeout)
        self._tools: Dict[str, Any] = {}
        self._variables: Dict[str, Any] = {}
        self._has_ended = False

    def send_tools(self, tools: Dict[str, Any]) -> None:
        self._tools = tools
        super().send_tools(tools)
        if "final_answer" in tools:
            self.run_code_raise_errors(END)

    def send_variables(self, variables: Dict[str, Any]) -> None:
        self._variables = variables
        super().send_variables(variables)

    def __call__(self, code_action: str) -> CodeOutput:
        if self._has_ended:
            self.send_variables(self._variables)
            self.send_tools(self._tools)
        return super().__call__(code_action)

    def run_code_raise_errors(self, code: str) -> CodeOutput:
        result = self._place.run_cell(code).result()
        self._has_ended = not result.session_alive
        final = FINAL_ANSWER.search(result.stderr.rstrip("\n"))
        if final:
            return CodeOutput(output=json.loads(final[1]), logs=result.stdout, is_final_answer=True)
        if result.is_error:
            raise AgentError(result.text, self.logger)
        return CodeOutput(output=None, logs=result.text, is_final_answer=False)

    def install_packages(self, additional_imports: List[str]) -> List[str]:
        """Those of tools: they are in the environment, or the code of the tool says that they are missing."""
        return additional_imports

    def cleanup(self) -> None:
        """Ends the session, and what the code has started."""
        self._place.close()

    def _patch_final_answer_with_exception(self, final_answer_tool: Any) -> None:
        """Not: smolagents' own way needs numpy and pillow in the environment."""
