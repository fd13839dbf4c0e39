"""AG2's tool with our environments, in the chats of AG2 0.9 to 0.14.

    ag2_tool_chat.py HOW ENVIRONMENT <codes

HOW is `initiate_chat` or `a_initiate_chat`. ENVIRONMENT is an expression of pyexecd.ag2. The codes are a list in JSON;
the model that is scripted sends one after the other. Prints the schema that it was offered and what it has read, as JSON.
"""

import asyncio
import json
import sys
from types import SimpleNamespace

import pyexecd.ag2
from autogen import ConversableAgent, register_function

CODES = []
OFFERED = []
READ = []


class ScriptedModel:
    def __init__(self, config, **_):
        """Needs no settings."""

    def create(self, params):
        OFFERED[:] = params["tools"]
        last = params["messages"][-1]
        if last["role"] == "tool":
            READ.append(last["content"])
        message = {"role": "assistant", "content": "TERMINATE"}
        if len(READ) < len(CODES):
            arguments = {"code_execution_request": {"code": CODES[len(READ)]}}
            call = {"name": "python_execute_code", "arguments": json.dumps(arguments)}
            message = {"role": "assistant", "content": None,
                       "tool_calls": [{"id": f"call-{len(READ)}", "type": "function", "function": call}]}
        return SimpleNamespace(id="turn", model="scripted", cost=0, choices=[SimpleNamespace(message=message)])

    def message_retrieval(self, response):
        return [choice.message for choice in response.choices]

    def cost(self, response):
        return response.cost

    @staticmethod
    def get_usage(response):
        return {}


def pair(tool):
    caller = ConversableAgent("caller", llm_config={
        "config_list": [{"model": "scripted", "model_client_cls": "ScriptedModel"}]})
    executor = ConversableAgent(
        "executor", llm_config=False, human_input_mode="NEVER",
        is_termination_msg=lambda message: "TERMINATE" in (message.get("content") or ""))
    register_function(tool, caller=caller, executor=executor, description="Run Python code")
    caller.register_model_client(model_client_cls=ScriptedModel)
    return caller, executor


def main():
    _, how, environment = sys.argv
    CODES[:] = json.loads(sys.stdin.read())
    with pyexecd.ag2.WorkingDirectory.create_tmp(), eval(environment, vars(pyexecd.ag2)):
        caller, executor = pair(pyexecd.ag2.PythonCodeExecutionTool(timeout=8))
        begun = getattr(executor, how)(caller, message="go", max_turns=2 * len(CODES))
        if how == "a_initiate_chat":
            asyncio.run(begun)
    print(json.dumps({"offered": OFFERED, "read": READ}))


if __name__ == "__main__":
    main()
