"""The entry of pyexecd in the MCP registry (server.json), on standard output.

    server_json.py WHEEL

The registry takes a name only from who owns its namespace. The README says the same name: by that the
registry knows that the package on PyPI belongs to it. That on npm says it in its package.json.
"""

import hashlib
import json
import sys

from wheel import Wheel

NAME = "io.github.pyexecd/pyexecd"
ARGUMENTS = [{
    "type": "named",
    "name": "--project",
    "description": "A folder that scripts may read",
    "format": "filepath",
    "isRequired": False,
}]
VARIABLES = [{
    "name": "PYEXECD_CONFIG",
    "description": "The configuration, instead of ~/.config/pyexecd/config.yaml",
    "format": "filepath",
    "isRequired": False,
}]


def package(wheel, registry, hint, **more):
    return {
        "registryType": registry,
        "identifier": wheel.name,
        "version": wheel.version,
        **more,
        "runtimeHint": hint,
        "transport": {"type": "stdio"},
        "packageArguments": ARGUMENTS,
        "environmentVariables": VARIABLES,
    }


def entry(wheel):
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": NAME,
        "title": "pyexecd",
        "description": "Runs the Python that language models write, each run in a sandbox of its own",
        "version": wheel.version,
        "packages": [
            package(wheel, "pypi", "uvx", fileSha256=hashlib.sha256(wheel.path.read_bytes()).hexdigest()),
            package(wheel, "npm", "npx"),
        ],
    }


if __name__ == "__main__":
    print(json.dumps(entry(Wheel(sys.argv[1])), indent=2))
