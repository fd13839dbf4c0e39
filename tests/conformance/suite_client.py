#!/usr/bin/env python3
"""What the official suite starts as a client: `pyexecd tools`, which lists the tools of the suite's server and calls those
that the scenario is about.

    suite_client.py PYEXECD URL    the scenario is in $MCP_CONFORMANCE_SCENARIO, its calls in $MCP_CONFORMANCE_CONTEXT
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}


def context_calls():
    return [(call["name"], call["arguments"])
            for call in json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}").get("toolCalls", [])]


def echo(listed):
    """What the scenario about schemas wants to be sent back."""
    focal = [tool for tool in listed if tool["name"] != "json_schema_echo"]
    return [("json_schema_echo", {"schema": focal[0]["inputSchema"]})] if len(focal) < len(listed) else []


def example(schema):
    """Arguments that fit a plain SCHEMA."""
    values = {"string": "us-west1", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    return {name: values.get(part.get("type"), "x") for name, part in schema.get("properties", {}).items()}


def main(program, url):
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "config.yaml")
        config.write_text(json.dumps({"tools": {"suite": {"url": url}}}))
        config.chmod(0o600)

        def tools(*words):
            return subprocess.run([program, "tools", *words, "--config", config], stdout=subprocess.PIPE, check=False)

        listed = json.loads(tools("list", "--json").stdout or "[]")
        calls = context_calls() or echo(listed) or [(tool["name"], ARGUMENTS.get(tool["name"], example(tool["inputSchema"])))
                                    for tool in listed]
        for name, arguments in calls:
            tools("call", f"suite.{name}", json.dumps(arguments))


if __name__ == "__main__":
    main(*sys.argv[1:])
