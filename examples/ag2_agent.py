#!/usr/bin/env python3
"""An agent of AG2 1.x that calculates with pyexecd.

    pip install 'ag2[openai]' dist/pyexecd-*.whl
    OPENAI_API_KEY=... python3 examples/ag2_agent.py MODEL 'How many primes are below 1000?'
"""

import asyncio
import sys

from ag2 import Agent
from ag2.config import OpenAIResponsesConfig
from pyexecd.ag2 import SystemPythonEnvironment, WorkingDirectory, agent_tool


async def main(model, question):
    with WorkingDirectory.create_tmp(), SystemPythonEnvironment():
        agent = Agent("Calculator", "Compute what you can compute.", config=OpenAIResponsesConfig(model=model),
                      tools=[agent_tool(timeout=20)])
        print((await agent.ask(question)).body)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: ag2_agent.py MODEL QUESTION")
    asyncio.run(main(*sys.argv[1:]))
