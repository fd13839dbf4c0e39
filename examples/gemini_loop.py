#!/usr/bin/env python3
"""A loop around Google's SDK in which Gemini runs Python, by `pyexecd call`: no server, no MCP.

    pip install google-genai
    GEMINI_API_KEY=... python3 gemini_loop.py MODEL 'What is the 100th prime number?'

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
    from google import genai
    from google.genai import types

    client = genai.Client()
    config = types.GenerateContentConfig(tools=[types.Tool.model_validate(pyexecd("schema", "--provider", "gemini"))])
    contents = [types.Content(role="user", parts=[types.Part(text=question)])]
    with tempfile.TemporaryDirectory() as directory:
        while True:
            said = client.models.generate_content(model=model, contents=contents, config=config).candidates[0].content
            calls = [part for part in said.parts if part.function_call]
            if not calls:
                print("".join(part.text or "" for part in said.parts))
                return
            results = [pyexecd("call", "-w", directory, input=part.model_dump_json()) for part in calls]
            parts = [types.Part.model_validate(result) for result in results]
            contents += [said, types.Content(role="user", parts=parts)]


if __name__ == "__main__":
    main(*sys.argv[1:])
