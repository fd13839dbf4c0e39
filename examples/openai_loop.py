#!/usr/bin/env python3
"""A loop around OpenAI's SDK in which a model runs Python.

    pip install openai dist/pyexecd-*.whl
    OPENAI_API_KEY=... python3 examples/openai_loop.py MODEL 'What is the 100th prime number?'

All calls of a client work in one directory, so what one call writes, the next one reads. A call that fails has an
answer, too, and the model reads what went wrong. PYEXECD names another program than the installed one.
"""

import os
import sys
from typing import Any, List

import openai
import pyexecd


def main(name: str, question: str) -> str:
    model = openai.OpenAI()
    items: List[Any] = [{"role": "user", "content": question}]
    with pyexecd.Client(os.environ.get("PYEXECD")) as client:
        tools = client.tools("openai-responses")
        while True:
            said = model.responses.create(model=name, tools=tools, input=items)
            results = client.answer(said)
            if not results:
                return said.output_text
            items += [*said.output, *results]


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
