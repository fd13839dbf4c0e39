"""FastMCP's server as ./dev bench http measures it: http_server.py PORT TOOL.json

One tool, both eras, plain JSON answers; run with the Python of .deps/fastmcp.
"""

import json
import pathlib
import sys

from fastmcp import FastMCP
from fastmcp.tools import FunctionTool


def run_python(**arguments):
    return None


def main():
    port, tool_file = sys.argv[1:]
    tool = json.loads(pathlib.Path(tool_file).read_text())
    server = FastMCP("bench", tools=[FunctionTool(
        fn=run_python, name=tool["name"], description=tool["description"],
        parameters=tool["inputSchema"], output_schema=tool.get("outputSchema"))])
    server.run(transport="http", host="127.0.0.1", port=int(port), path="/mcp", json_response=True,
               show_banner=False, log_level="error", uvicorn_config={"timeout_keep_alive": 60})


if __name__ == "__main__":
    main()
