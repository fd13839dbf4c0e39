#!/usr/bin/env python3
"""A client that shows its user the code before it runs, in the standard library alone.

    python3 examples/approving_client.py pyexecd --config examples/approval.yaml < script.py

pyexecd asks with an elicitation in the middle of the call (`approval: always`). The answer is read
from the terminal: yes, or the reason why not.
"""

import sys

from client import Client, ToolError


class ApprovingClient(Client):
    """ASK gets the text of the question and returns whether, and a reason or None."""

    capabilities = {"elicitation": {}}

    def __init__(self, ask, *command):
        self.ask = ask
        super().__init__(*command)

    def answer(self, request):
        if request["method"] != "elicitation/create":
            return super().answer(request)
        agrees, reason = self.ask(request["params"]["message"])
        answer = "yes" if agrees else f"no: {reason}" if reason else "no"
        return {"result": {"action": "accept", "content": {"approve": answer}}}


def ask_on_terminal(question):
    with open("/dev/tty", "r+b", buffering=0) as terminal:
        terminal.write(question.encode() + b"\nRun it? [y/N, or why not] ")
        said = terminal.readline().decode().strip()
    agrees = said.lower() in ("y", "yes")
    return agrees, None if agrees or said.lower() in ("", "n", "no") else said


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: approving_client.py PROGRAM [ARGUMENT...] < SCRIPT")
    with ApprovingClient(ask_on_terminal, *sys.argv[1:]) as client:
        try:
            result = client.run_python(sys.stdin.read())
        except ToolError as error:
            sys.exit(str(error))
    sys.stdout.write(result["stdout"])
    sys.stderr.write(result["stderr"])
    if result["error"]:
        print(result["error"], file=sys.stderr)
    sys.exit(0 if result["success"] else 1)


if __name__ == "__main__":
    main()
