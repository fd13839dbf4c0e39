"""The client of the MCP Python SDK, beside which `./dev bench tools` calls tools.

    sdk_client.py SERVERS

SERVERS is an object of JSON: of each server over stdio its command. A line of JSON is an order: `calls`, each a server, a
tool and its arguments, which are made at once, and how often, `count`. The answer has the content of each result, and the
milliseconds that all took, each time.
"""

import asyncio
import contextlib
import json
import sys
import time

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def connect(stack, command):
    program, *arguments = command
    read, write = await stack.enter_async_context(stdio_client(StdioServerParameters(command=program, args=arguments)))
    session = await stack.enter_async_context(ClientSession(read, write))
    await session.initialize()
    await session.list_tools()
    return session


async def make_once(sessions, calls):
    if len(calls) == 1:
        server, tool, arguments = calls[0]
        return [await sessions[server].call_tool(tool, arguments)]
    return await asyncio.gather(*(sessions[server].call_tool(tool, arguments) for server, tool, arguments in calls))


async def make(sessions, calls, count=1):
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        results = await make_once(sessions, calls)
        times.append((time.perf_counter() - begun) * 1e3)
    return {"ms": times, "contents": [[block.model_dump(mode="json", by_alias=True) for block in result.content]
                                      for result in results]}


async def main(servers):
    async with contextlib.AsyncExitStack() as stack:
        sessions = {name: await connect(stack, command) for name, command in servers.items()}
        print("{}", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await make(sessions, **json.loads(line))), flush=True)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
