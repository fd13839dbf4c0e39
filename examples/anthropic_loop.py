#!/usr/bin/env python3
"""A loop around Anthropic's SDK in which Claude runs Python, by `pyexecd call`: no server, no MCP.

    pip install anthropic
    ANTHROPIC_API_KEY=... python3 anthropic_loop.py MODEL 'What is the 100th prime number?'

The conversation works in a directory of its own, so what one call writes, the next one reads. A call that fails is a
result, too, and the model reads what went wrong. PYEXECD names another pyexecd.
"""

import json
import os
import subprocess
import sys
import tempfile

PYEXECD = os.environ.get("PYEXECD", "pyexecd")


def pyexecd(*arguments, **options):
    done = subprocess.run([PYEXECD, *arguments], check=True, stdout=subprocess.PIPE, text=True, **options)
    return json.loads(done.stdout)


def main(model, question):
    import anthropic

    client = anthropic.Anthropic()
    tools = [pyexecd("schema", "--provider", "anthropic")]
    messages = [{"role": "user", "content": question}]
    with tempfile.TemporaryDirectory() as directory:
        while True:
            said = client.messages.create(model=model, max_tokens=8000, tools=tools, messages=messages)
            calls = [block for block in said.content if block.type == "tool_use"]
            if not calls:
                print("".join(block.text for block in said.content if block.type == "text"))
                return
            results = [pyexecd("call", "-w", directory, input=call.model_dump_json()) for call in calls]
            messages += [{"role": "assistant", "content": said.content}, {"role": "user", "content": results}]


if __name__ == "__main__":
    main(*sys.argv[1:])
