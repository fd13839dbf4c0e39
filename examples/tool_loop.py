"""A function-calling loop in forty lines: any model behind OpenAI's chat completions runs Python.

    OPENAI_API_KEY=... python3 tool_loop.py MODEL 'What is the 100th prime number?'

OPENAI_BASE_URL names another server with the same API, such as one of vLLM or Ollama; PYEXECD another pyexecd. The
conversation works in a directory of its own, so what one call writes, the next one reads. Nothing else is needed: a
call that fails is a tool result, too, and the model reads what went wrong.
"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request

PYEXECD = os.environ.get("PYEXECD", "pyexecd")
URL = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions"


def pyexecd(*arguments, **options):
    return subprocess.run([PYEXECD, *arguments], check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def complete(model, messages, tools):
    """The next message of MODEL."""
    body = json.dumps({"model": model, "messages": messages, "tools": tools})
    headers = {"Content-Type": "application/json",
               "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}
    with urllib.request.urlopen(urllib.request.Request(URL, body.encode(), headers)) as response:
        return json.load(response)["choices"][0]["message"]


def main(model, question):
    tools = [json.loads(pyexecd("schema", "--provider", "openai"))]
    messages = [{"role": "user", "content": question}]
    with tempfile.TemporaryDirectory() as directory:
        while True:
            message = complete(model, messages, tools)
            messages.append(message)
            for call in message.get("tool_calls") or []:
                result = pyexecd("call", "--provider", "openai", "-w", directory, input=json.dumps(call))
                messages.append(json.loads(result))
            if not message.get("tool_calls"):
                print(message["content"])
                return


if __name__ == "__main__":
    main(*sys.argv[1:])
