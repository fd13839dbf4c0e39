"""The entry of pyexecd in the MCP registry (server.json), on standard output.

    server_json.py WHEEL

The registry takes a name only from who owns its namespace. The README says the same name: by that the
registry knows that the package on PyPI belongs to it.
"""

import hashlib
import json
import sys

from wheel import Wheel

NAME = "io.github.pyexecd/pyexecd"


def entry(wheel):
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": NAME,
        "title": "pyexecd",
        "description": "Runs the Python that language models write, each run in a sandbox of its own",
        "version": wheel.version,
        "packages": [{
            "registryType": "pypi",
            "identifier": wheel.name,
            "version": wheel.version,
            "fileSha256": hashlib.sha256(wheel.path.read_bytes()).hexdigest(),
            "runtimeHint": "uvx",
            "transport": {"type": "stdio"},
        }],
    }


if __name__ == "__main__":
    print(json.dumps(entry(Wheel(sys.argv[1])), indent=2))
