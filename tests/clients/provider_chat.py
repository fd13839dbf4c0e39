"""A conversation by OpenAI's SDK for chat completions, whose objects `AsyncClient.answer()` reads.

    provider_chat.py MODEL QUESTION

PYEXECD is the program. What the model says last is printed.
"""

import asyncio
import os
import sys
from typing import Any, List, Optional

import openai
import pyexecd


async def main(name: str, question: str) -> Optional[str]:
    model = openai.AsyncOpenAI()
    messages: List[Any] = [{"role": "user", "content": question}]
    async with pyexecd.AsyncClient(os.environ["PYEXECD"]) as client:
        tools = await client.tools("openai")
        while True:
            said = await model.chat.completions.create(model=name, tools=tools, messages=messages)
            results = await client.answer(said)
            if not results:
                return said.choices[0].message.content
            messages += [said.choices[0].message, *results]


if __name__ == "__main__":
    print(asyncio.run(main(*sys.argv[1:])))
