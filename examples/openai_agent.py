#!/usr/bin/env python3
"""An agent of the OpenAI Agents SDK that calculates with pyexecd.

    pip install openai-agents
    OPENAI_API_KEY=... python3 examples/openai_agent.py MODEL 'How many primes are below 1000?' pyexecd

What comes behind the question is the command of the server.
"""

import asyncio
import os
import sys


async def main(model, question, program, *arguments):
    # Here, so that the usage is told without the package.
    from agents import Agent, Runner, set_tracing_disabled
    from agents.mcp import MCPServerStdio

    set_tracing_disabled(True)
    # The SDK passes few variables on: without env= the server would not know of DOCKER_HOST or proxies. It waits
    # 5 seconds for an answer by default; a script may take longer.
    server = MCPServerStdio(params={"command": program, "args": list(arguments), "env": dict(os.environ)},
                            client_session_timeout_seconds=600)
    async with server:
        agent = Agent(name="Calculator", instructions="Compute what you can compute.", model=model,
                      mcp_servers=[server])
        result = Runner.run_streamed(agent, question)
        async for _ in result.stream_events():
            pass
    print(result.final_output)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: openai_agent.py MODEL QUESTION PROGRAM [ARGUMENT]...")
    asyncio.run(main(*sys.argv[1:]))
