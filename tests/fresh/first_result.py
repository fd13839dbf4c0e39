"""The MCP Python SDK starts the server COMMAND, which may install itself first, and calls its tool.

    first_result.py COMMAND...

Prints one line of JSON: the seconds from the start of COMMAND to the result, and its text.
"""

import asyncio
import json
import os
import sys
import time


async def main(command):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    begun = time.monotonic()
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        result = await session.call_tool("run_python", {"code": "print(6 * 7)"})
        print(json.dumps({"seconds": round(time.monotonic() - begun, 2), "text": result.content[0].text}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
