#!/usr/bin/env python3
"""A loop around Anthropic's SDK in which Claude runs Python.

    pip install anthropic dist/pyexecd-*.whl
    ANTHROPIC_API_KEY=... python3 examples/anthropic_loop.py MODEL 'What is the 100th prime number?'

All calls of a client work in one directory, so what one call writes, the next one reads. A call that fails has an
answer, too, and the model reads what went wrong. PYEXECD names another program than the installed one.
"""

import os
import sys
from typing import Any, List

import anthropic
import pyexecd


def main(name: str, question: str) -> str:
    model = anthropic.Anthropic()
    messages: List[Any] = [{"role": "user", "content": question}]
    with pyexecd.Client(os.environ.get("PYEXECD")) as client:
        tools = client.tools("anthropic")
        while True:
            said = model.messages.create(model=name, max_tokens=8000, tools=tools, messages=messages)
            results = client.answer(said)
            if not results:
                return "".join(block.text for block in said.content if block.type == "text")
            messages += [{"role": "assistant", "content": said.content}, {"role": "user", "content": results}]


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
