"""Loads AG2's toolkit for a server, its tools and its resource templates, and reads a file with it.

    ag2_resources.py COMMAND...
"""

import asyncio
import json
import sys

from autogen.mcp import create_toolkit
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    program, *arguments = sys.argv[1:]
    server = StdioServerParameters(command=program, args=["--results", "structured", *arguments])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        toolkit = await create_toolkit(session)
        tools = {tool.name: tool.func for tool in toolkit.tools}
        result = await session.call_tool("run_python",
                                         {"code": "open('a b.txt', 'w').write('read me')"})
        (file,) = result.structuredContent["files"]
        read = await tools["working_directory_file"](uri=file["uri"])
        print(json.dumps({"tools": sorted(tools), "text": read.contents[0].text}))


asyncio.run(main())
