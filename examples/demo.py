#!/usr/bin/env python3
"""Starts pyexecd as a client would and shows what a model gets to see.

    python3 examples/demo.py pyexecd
"""

import sys
import textwrap

from client import Client, ToolError

WORKS = '''
from fractions import Fraction

def bernoulli(n):
    """The n-th Bernoulli number, exactly (Akiyama and Tanigawa)."""
    row = []
    for m in range(n + 1):
        row.append(Fraction(1, m + 1))
        for j in range(m, 0, -1):
            row[j - 1] = j * (row[j - 1] - row[j])
    return row[0]

for n in (2, 10, 20, 50):
    print(f"B({n}) = {bernoulli(n)}")
'''

FAILS = '''
prices = {"apple": 1.20, "pear": 0.90}
print("the basket costs", sum(prices[fruit] for fruit in ("apple", "pear", "plum")))
'''

IN_A_VENV = '''
import importlib.metadata, sys

print("a virtual environment:", sys.prefix != sys.base_prefix)
print("what is in it:", *(package.name for package in importlib.metadata.distributions()))
'''


def indented(text, mark="    "):
    return textwrap.indent(text.strip("\n"), mark, lambda line: True)


def show(client, title, code, **arguments):
    print(f"\n{title}\n\n{indented(code)}\n")
    result = client.run_python(code.lstrip(), **arguments)
    ending = "success" if result["success"] else "failure"
    print(f"  {ending}, exit code {result['returncode']}, {result['duration'] * 1000:.0f} ms, "
          f"Python {result['python_version']}, "
          f"peak memory {result['usage']['peak_memory_bytes'] / 2**20:.0f} MiB")
    for stream in ("stdout", "stderr"):
        if result[stream]:
            print(f"  {stream}:\n{indented(result[stream], '  | ')}")
    return result


def main():
    with Client(*sys.argv[1:]) as client:
        print(f"{client.server['name']} {client.server['version']} offers:")
        for tool in client.list_tools():
            arguments = ", ".join(tool["inputSchema"]["properties"])
            print(f"  {tool['name']}({arguments})")
        show(client, "A script that works:", WORKS)
        result = show(client, "A script that fails, as a model's first try does:", FAILS)
        try:
            made = show(client, "A virtual environment of the call's own, made when it is needed:",
                        IN_A_VENV, environment_definition={"type": "venv"})
            print(f"  preparing it took {made['timings']['prepare'] * 1000:.0f} ms")
        except ToolError as error:
            print(error)
        containment = result["containment"]
        print(f"\nHeld by: {containment['process_tree']}; limits by: {containment['limits']}.")
        for missing in containment["missing"]:
            print(f"  missing: {missing}")


if __name__ == "__main__":
    main()
