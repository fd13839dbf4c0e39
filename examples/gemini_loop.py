#!/usr/bin/env python3
"""A loop around Google's SDK in which Gemini runs Python.

    pip install google-genai dist/pyexecd-*.whl
    GEMINI_API_KEY=... python3 examples/gemini_loop.py MODEL 'What is the 100th prime number?'

All calls of a client work in one directory, so what one call writes, the next one reads. A call that fails has an
answer, too, and the model reads what went wrong. PYEXECD names another program than the installed one.
"""

import os
import sys
from typing import Any, List, Optional

import pyexecd
from google import genai
from google.genai import types


def main(name: str, question: str) -> Optional[str]:
    model = genai.Client()
    contents: List[Any] = [{"role": "user", "parts": [{"text": question}]}]
    with pyexecd.Client(os.environ.get("PYEXECD")) as client:
        config = types.GenerateContentConfig(tools=client.tools("gemini"))
        while True:
            said = model.models.generate_content(model=name, contents=contents, config=config)
            results = client.answer(said)
            if not results:
                return said.text
            contents += [said.candidates and said.candidates[0].content, {"role": "user", "parts": results}]


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
