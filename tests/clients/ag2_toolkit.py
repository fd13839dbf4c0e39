"""AG2's agent with its MCP toolkit, which starts the server anew for each call.

    ag2_toolkit.py API COMMAND...

The model is at the URL API, in the form of OpenAI's Responses.
"""

import asyncio
import sys

from ag2 import Agent
from ag2.config import OpenAIResponsesConfig
from ag2.tools import MCPStdioServerConfig, MCPToolkit


async def main():
    api, command, *arguments = sys.argv[1:]
    model = OpenAIResponsesConfig(model="gpt-5.1", api_key="none", base_url=f"{api}/v1",
                                  streaming=True)
    server = MCPStdioServerConfig(command=command, args=arguments)
    agent = Agent("writer", config=model, tools=[MCPToolkit(server)])
    await agent.ask("Go on.")


if __name__ == "__main__":
    asyncio.run(main())
