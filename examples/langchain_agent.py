#!/usr/bin/env python3
"""An agent of LangChain that calculates with pyexecd, through LangChain's MCP adapters.

    pip install langchain langchain-mcp-adapters langchain-openai
    OPENAI_API_KEY=... python3 examples/langchain_agent.py openai:MODEL 'How many primes are below 1000?' pyexecd

What comes behind the question is the command of the server.
"""

import asyncio
import os
import sys


async def main(model, question, program, *arguments):
    # Here, so that the usage is told without the packages.
    from langchain.agents import create_agent
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools

    # Few variables are passed on: without env the server would not know of DOCKER_HOST or proxies.
    client = MultiServerMCPClient({"python": {"transport": "stdio", "command": program, "args": list(arguments),
                                              "env": dict(os.environ)}})
    # One session for the whole conversation: get_tools() would start a server for each call.
    async with client.session("python") as session:
        agent = create_agent(model, await load_mcp_tools(session), system_prompt="Compute what you can compute.")
        answer = await agent.ainvoke({"messages": [{"role": "user", "content": question}]})
    print(answer["messages"][-1].text)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: langchain_agent.py MODEL QUESTION PROGRAM [ARGUMENT]...")
    asyncio.run(main(*sys.argv[1:]))
