#!/usr/bin/env python3
"""A caller and an executor of AG2 whose code runs in pyexecd.

    pip install 'ag2[mcp]<1'
    python3 examples/ag2_pair.py pyexecd

The caller asks for code to be run, the executor runs it: the tool is pyexecd's own, reached through
AG2's MCP client. In place of a language model stands a script that makes a mistake first and repairs
it once it has read the result, so that this needs neither a key nor a network.
"""

import asyncio
import json
import re
import sys
from types import SimpleNamespace

from autogen import ConversableAgent, register_function
from autogen.mcp import create_toolkit
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

QUESTION = "What is the sum of the primes below 10000, and how many are there?"

FIRST_TRY = """\
def is_prime(n)
    return n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1))
primes = [n for n in range(10000) if is_prime(n)]
print(sum(primes), len(primes))
"""
NUMBERS = re.compile(r"exitcode: 0.*?Code output: (\d+) (\d+)", re.DOTALL)
REPAIRED = FIRST_TRY.replace("is_prime(n)\n", "is_prime(n):\n", 1)


class ScriptedModel:
    """Stands in for a language model: answers by what the conversation says so far."""

    def __init__(self, config, **_):
        self.turns = 0

    def create(self, params):
        offered = [tool["function"]["name"] for tool in params["tools"]]
        assert offered == ["run_python"], offered
        last = params["messages"][-1]
        if last["role"] != "tool":
            message = self.call(FIRST_TRY)
        elif "SyntaxError" in last["content"]:
            message = self.call(REPAIRED)
        elif numbers := NUMBERS.search(last["content"]):
            total, count = numbers.groups()
            message = self.say(f"The {count} primes below 10000 add up to {total}. TERMINATE")
        else:
            message = self.say(f"I do not understand this result: {last['content']} TERMINATE")
        self.turns += 1
        return SimpleNamespace(id=f"turn-{self.turns}", model="scripted", cost=0,
                               choices=[SimpleNamespace(message=message)])

    def call(self, code):
        function = {"name": "run_python", "arguments": json.dumps({"code": code})}
        call = {"id": f"call-{self.turns}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def say(self, text):
        return {"role": "assistant", "content": text}

    def message_retrieval(self, response):
        return [choice.message for choice in response.choices]

    def cost(self, response):
        return response.cost

    @staticmethod
    def get_usage(response):
        return {}


def make_pair(run_python):
    caller = ConversableAgent(
        "caller",
        llm_config={"config_list": [{"model": "scripted", "model_client_cls": "ScriptedModel"}]},
    )
    executor = ConversableAgent(
        "executor",
        llm_config=False,
        human_input_mode="NEVER",
        is_termination_msg=lambda message: "TERMINATE" in (message.get("content") or ""),
    )
    register_function(
        run_python, caller=caller, executor=executor, description=run_python.description
    )
    caller.register_model_client(model_client_cls=ScriptedModel)
    return caller, executor


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        toolkit = await create_toolkit(session, use_mcp_resources=False)
        caller, executor = make_pair(toolkit.get_tool("run_python"))
        await executor.a_initiate_chat(caller, message=QUESTION, max_turns=4)


if __name__ == "__main__":
    asyncio.run(main())
