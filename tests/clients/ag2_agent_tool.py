"""AG2 1.x: an agent with our tool. The model is at the URL of the first argument, in the form of OpenAI's Responses."""

import asyncio
import sys

from ag2 import Agent
from ag2.config import OpenAIResponsesConfig
from pyexecd.ag2 import SystemPythonEnvironment, WorkingDirectory, agent_tool


async def main():
    model = OpenAIResponsesConfig(model="gpt-5.1", api_key="none", base_url=f"{sys.argv[1]}/v1", streaming=True)
    with WorkingDirectory.create_tmp(), SystemPythonEnvironment():
        await Agent("writer", config=model, tools=[agent_tool(timeout=20)]).ask("Go on.")


if __name__ == "__main__":
    asyncio.run(main())
