#!/usr/bin/env python3
"""An agent of AutoGen 0.7 that calculates with pyexecd, through AutoGen's own McpWorkbench.

    pip install autogen-agentchat 'autogen-ext[mcp]'
    python3 examples/autogen_workbench.py pyexecd

AutoGen's ReplayChatCompletionClient stands in for a language model: it makes a mistake first and repairs it, so that
this needs neither a key nor a network.
"""

import asyncio
import json
import os
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.ui import Console
from autogen_core import FunctionCall
from autogen_core.models import CreateResult, ModelInfo, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient
from autogen_ext.tools.mcp import McpWorkbench, StdioServerParams

QUESTION = "What is the sum of the squares below 100?"
FIRST_TRY = "print(sum(n * n for n in range(10))"


def call(number, code):
    """The answer of a model that has CODE run."""
    function = FunctionCall(id=f"call-{number}", name="run_python", arguments=json.dumps({"code": code}))
    return CreateResult(finish_reason="function_calls", content=[function], cached=False,
                        usage=RequestUsage(prompt_tokens=0, completion_tokens=0))


async def main(program, *arguments):
    model = ReplayChatCompletionClient(
        [call(1, FIRST_TRY), call(2, FIRST_TRY + ")"), "The sum is 285."],
        model_info=ModelInfo(vision=False, function_calling=True, json_output=False, family="unknown",
                             structured_output=False))
    # Few variables are passed on: without env the server would not know of DOCKER_HOST or proxies. AutoGen waits five
    # seconds for an answer by default; a script may take longer.
    server = StdioServerParams(command=program, args=list(arguments), env=dict(os.environ), read_timeout_seconds=600)
    async with McpWorkbench(server) as workbench:
        agent = AssistantAgent("calculator", model_client=model, workbench=workbench, max_tool_iterations=5)
        await Console(agent.run_stream(task=QUESTION))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: autogen_workbench.py PROGRAM [ARGUMENT]...")
    asyncio.run(main(*sys.argv[1:]))
