"""AG2's agent with its MCP toolkit, which starts the server anew for each call.

    ag2_toolkit.py API [--person ANSWER] COMMAND...

The model is at the URL API, in the form of OpenAI's Responses. A person, if there is one, gives
ANSWER to every question of the server.
"""

import asyncio
import sys

from ag2 import Agent
from ag2.config import OpenAIResponsesConfig
from ag2.tools import MCPStdioServerConfig, MCPToolkit
from ag2.tools.toolkits.mcp_server.answering import MCPAnswerPolicy


def toolkit(words):
    """The toolkit for the command line WORDS, and who answers, or None."""
    person = None
    policy = MCPAnswerPolicy()
    if words[0] == "--person":
        _, answer, *words = words
        policy = MCPAnswerPolicy(elicitation="ask")
        person = lambda question: answer  # noqa: E731
    command, *arguments = words
    server = MCPStdioServerConfig(command=command, args=arguments)
    return MCPToolkit(server, answering=policy), person


async def main():
    api, *words = sys.argv[1:]
    model = OpenAIResponsesConfig(model="gpt-5.1", api_key="none", base_url=f"{api}/v1",
                                  streaming=True)
    tools, person = toolkit(words)
    agent = Agent("writer", config=model, tools=[tools], hitl_hook=person)
    await agent.ask("Go on.")


if __name__ == "__main__":
    asyncio.run(main())
