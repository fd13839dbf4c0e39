#!/usr/bin/env python3
"""AG2's tool for Python, by AG2 up to 0.13, or by pyexecd: that is one import.

    pip install 'ag2<1' dist/pyexecd-*.whl
    python3 examples/ag2_tool.py

docs/autogen.md shows the program as it is written for AG2 alone.

In place of a language model stands a script that makes a mistake first and repairs it once it has read the
result, so that this needs neither a key nor a network.
"""

import json
import re
from types import SimpleNamespace

from autogen import ConversableAgent, register_function
from pyexecd.ag2 import PythonCodeExecutionTool, SystemPythonEnvironment, WorkingDirectory

QUESTION = "What is the sum of the squares below 100?"
SUM = re.compile(r"\b[0-9]{3}\b")
FIRST_TRY = "print(sum(n * n for n in range(10))"
REPAIRED = FIRST_TRY + ")"


class ScriptedModel:
    """Stands in for a language model: answers by what the conversation says so far."""

    def __init__(self, config, **_):
        self.turns = 0

    def create(self, params):
        self.turns += 1
        last = params["messages"][-1]
        if last["role"] != "tool":
            message = self.call(FIRST_TRY)
        elif "SyntaxError" in last["content"]:
            message = self.call(REPAIRED)
        else:
            message = {"role": "assistant", "content": f"The sum is {SUM.search(last['content'])[0]}. TERMINATE"}
        return SimpleNamespace(id=f"turn-{self.turns}", model="scripted", cost=0,
                               choices=[SimpleNamespace(message=message)])

    def call(self, code):
        arguments = {"code_execution_request": {"code": code, "libraries": []}}
        function = {"name": "python_execute_code", "arguments": json.dumps(arguments)}
        call = {"id": f"call-{self.turns}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def message_retrieval(self, response):
        return [choice.message for choice in response.choices]

    def cost(self, response):
        return response.cost

    @staticmethod
    def get_usage(response):
        return {}


def main():
    caller = ConversableAgent(
        "caller",
        llm_config={"config_list": [{"model": "scripted", "model_client_cls": "ScriptedModel"}]},
    )
    executor = ConversableAgent(
        "executor", llm_config=False, human_input_mode="NEVER",
        is_termination_msg=lambda message: "TERMINATE" in (message.get("content") or ""),
    )
    with SystemPythonEnvironment() as environment, WorkingDirectory.create_tmp() as directory:
        tool = PythonCodeExecutionTool(timeout=20, working_directory=directory, python_environment=environment)
        register_function(tool, caller=caller, executor=executor, description="Runs Python code.")
        caller.register_model_client(model_client_cls=ScriptedModel)
        executor.initiate_chat(caller, message=QUESTION, max_turns=4)


if __name__ == "__main__":
    main()
