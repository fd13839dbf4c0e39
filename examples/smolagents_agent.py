#!/usr/bin/env python3
"""A CodeAgent of smolagents whose code runs in pyexecd.

    pip install 'smolagents[openai]' dist/pyexecd-*.whl
    OPENAI_API_KEY=... python3 examples/smolagents_agent.py MODEL 'How many primes are below 1000?'
"""

import sys

from pyexecd.smolagents import SessionExecutor
from smolagents import CodeAgent, OpenAIServerModel


def main(model, question):
    with CodeAgent(tools=[], model=OpenAIServerModel(model), executor=SessionExecutor(timeout=60)) as agent:
        print(agent.run(question))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: smolagents_agent.py MODEL QUESTION")
    main(*sys.argv[1:])
