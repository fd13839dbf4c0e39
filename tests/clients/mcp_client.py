"""The MCP Python SDK against the program, or the URL, named on the command line: 2.x and 1.x alike.

Prints one line of JSON with what it saw; test_python.py starts it with the SDK's own interpreter.
"""

import asyncio
import json
import sys
from importlib.metadata import version

import anyio


async def use_the_tool(session):
    tools = await session.list_tools()
    works = await session.call_tool("run_python", {"code": "print(6 * 7)"})
    fails = await session.call_tool("run_python", {"code": "print(1 / 0)"})
    floods = await session.call_tool("run_python", {"code": "print('spam\\n' * 20000)"})
    schemas = {tool.name: tool.model_dump(by_alias=True)["outputSchema"] for tool in tools.tools}
    return {
        "tools": schemas,
        "works": works.model_dump(mode="json", by_alias=True),
        "fails": fails.model_dump(mode="json", by_alias=True),
        "floods": floods.model_dump(mode="json", by_alias=True),
    }


def is_url(server):
    return server.startswith("http")


def parameters(program):
    from mcp import StdioServerParameters

    return StdioServerParameters(command=program, args=["--results", "structured"])


def open_streams(server):
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    if is_url(server):
        return streamable_http_client(server)
    return stdio_client(parameters(server))


async def with_session(server):
    """The handshake by hand: `initialize`, as every version of the SDK has it."""
    from mcp import ClientSession

    seen = {}
    try:
        async with open_streams(server) as (read, write, *_):
            async with ClientSession(read, write) as session:
                answer = await session.initialize()
                seen = await use_the_tool(session)
                seen["server"] = answer.model_dump(mode="json", by_alias=True)["serverInfo"]["name"]
    except* anyio.BrokenResourceError:  # 1.x has no reader any more for a notification that comes while it leaves
        if not seen:
            raise
    return seen


async def with_client(server, mode):
    """The client of 2.x, which negotiates the revision."""
    from mcp import Client

    target = server if is_url(server) else parameters(server)
    async with Client(target, mode=mode) as client:
        seen = await use_the_tool(client)
        seen["revision"] = client.protocol_version
        # A pinned revision needs no handshake, so nothing has named the server yet.
        seen["server"] = client.server_info.name if client.server_info else None
        return seen


async def main():
    server, mode = sys.argv[1:]
    if mode == "session":
        seen = await with_session(server)
    else:
        seen = await with_client(server, mode)
    print(json.dumps({"sdk": version("mcp"), **seen}))


if __name__ == "__main__":
    asyncio.run(main())
