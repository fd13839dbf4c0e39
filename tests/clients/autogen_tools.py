"""AutoGen's mcp_server_tools, which start the server anew for each call.

    autogen_tools.py COMMAND... <steps

A step is the code of a call, a line of JSON. Prints what the model reads of each; where that names a
handle, the calls that follow go on with it.
"""

import asyncio
import json
import re
import sys

from autogen_core import CancellationToken
from autogen_ext.tools.mcp import StdioServerParams, mcp_server_tools


async def main():
    command, *arguments = sys.argv[1:]
    server = StdioServerParams(command=command, args=arguments)
    (tool,) = [tool for tool in await mcp_server_tools(server) if tool.name == "run_python"]
    more = {}
    for line in sys.stdin:
        value = await tool.run_json({"code": json.loads(line), **more}, CancellationToken())
        text = tool.return_value_as_string(value)
        offered = re.search(r"\b[0-9a-f]{32}\b", text)
        if offered:
            more = {"working_directory": offered.group()}
        print(json.dumps(text), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
