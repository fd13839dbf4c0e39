#!/usr/bin/env python3
"""A client of pyexecd in the standard library alone.

    python3 examples/client.py pyexecd 'print(6 * 7)'

`Client` starts the program and speaks the Model Context Protocol with it: one JSON message per line
over its stdin and stdout. Copy it where a package is too much.
"""

import json
import subprocess
import sys


class ToolError(Exception):
    """The server refused the request itself; a script that fails is a result, not an error."""


class Client:
    """A running pyexecd.

    with Client("pyexecd") as client:
        result = client.run_python("print(1 + 1)")
    """

    capabilities = {}  # what the server may ask of this client

    def __init__(self, *command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        self.next_id = 1
        self.server = self.request("initialize", {
            "protocolVersion": "2025-11-25",
            "capabilities": self.capabilities,
            "clientInfo": {"name": "client.py", "version": "1"},
        })["serverInfo"]
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def request(self, method, params=None):
        """Sends a request and returns its result. Requests of the server that come before it are
        answered, notifications are skipped."""
        request_id, self.next_id = self.next_id, self.next_id + 1
        self.send({"id": request_id, "method": method, "params": params or {}})
        for line in self.process.stdout:
            answer = json.loads(line)
            if "method" not in answer and answer.get("id") == request_id:
                break
            if "method" in answer and "id" in answer:
                self.send({"id": answer["id"], **self.answer(answer)})
        else:
            raise ToolError("the server has ended")
        if "error" in answer:
            raise ToolError(answer["error"]["message"])
        return answer["result"]

    def answer(self, request):
        """What REQUEST of the server is answered: its `result` or an `error`."""
        return {"error": {"code": -32601, "message": f"no method {request['method']}"}}

    def list_tools(self):
        return self.request("tools/list")["tools"]

    def run_python(self, code, **arguments):
        """What happened: success, returncode, stdout, stderr, files and more.

        Arguments of the wrong kind have no such result; their error is raised.
        """
        result = self.request("tools/call", {"name": "run_python",
                                             "arguments": {"code": code, **arguments},
                                             "_meta": {"pyexecd/results": "structured"}})
        if "structuredContent" not in result:
            raise ToolError(result["content"][0]["text"])
        return result["structuredContent"]

    def close(self):
        """The end of its input ends the server, and with it everything that still runs."""
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: client.py PROGRAM CODE")
    with Client(sys.argv[1]) as client:
        result = client.run_python(sys.argv[2])
    sys.stdout.write(result["stdout"])
    sys.stderr.write(result["stderr"])
    if result["error"]:
        print(result["error"], file=sys.stderr)
    sys.exit(0 if result["success"] else 1)


if __name__ == "__main__":
    main()
