#!/usr/bin/env python3
"""A loop around OpenAI's SDK in which a model runs Python, by `pyexecd call`: no server, no MCP.

    pip install openai
    OPENAI_API_KEY=... python3 openai_loop.py MODEL 'What is the 100th prime number?'

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
    import openai

    client = openai.OpenAI()
    tools = [pyexecd("schema", "--provider", "openai-responses")]
    items = [{"role": "user", "content": question}]
    with tempfile.TemporaryDirectory() as directory:
        while True:
            said = client.responses.create(model=model, tools=tools, input=items)
            calls = [item for item in said.output if item.type == "function_call"]
            if not calls:
                print(said.output_text)
                return
            items += said.output
            items += [pyexecd("call", "-w", directory, input=call.model_dump_json()) for call in calls]


if __name__ == "__main__":
    main(*sys.argv[1:])
