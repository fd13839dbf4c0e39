#!/usr/bin/env python3
"""A function-calling loop without an SDK: any model behind OpenAI's chat completions runs Python.

    pip install dist/pyexecd-*.whl
    OPENAI_API_KEY=... python3 examples/tool_loop.py MODEL 'What is the 100th prime number?'

OPENAI_BASE_URL names another server with the same API, such as one of vLLM or Ollama; PYEXECD another program than the
installed one. All calls of a client work in one directory, so what one call writes, the next one reads. A call that
fails has an answer, too, and the model reads what went wrong.
"""

import json
import os
import sys
import urllib.request
from typing import Any, List

import pyexecd

URL = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions"


def complete(name: str, messages: List[Any], tools: List[Any]) -> Any:
    """The next message of the model NAME."""
    body = json.dumps({"model": name, "messages": messages, "tools": tools})
    headers = {"Content-Type": "application/json",
               "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}
    with urllib.request.urlopen(urllib.request.Request(URL, body.encode(), headers)) as response:
        return json.load(response)["choices"][0]["message"]


def main(name: str, question: str) -> Any:
    messages: List[Any] = [{"role": "user", "content": question}]
    with pyexecd.Client(os.environ.get("PYEXECD")) as client:
        tools = client.tools("openai")
        while True:
            message = complete(name, messages, tools)
            results = client.answer(message)
            if not results:
                return message["content"]
            messages += [message, *results]


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
