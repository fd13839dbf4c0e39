"""A server that answers `initialize` with what it has in its environment, and then does as its argument says:

    stub_server.py dies | echoes-badly | echoes-deeply | hangs
"""

import json
import os
import sys
import time


def answer(request, result):
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


def main(then):
    request = json.loads(sys.stdin.readline())
    answer(request, {"protocolVersion": "2025-11-25", "capabilities": {},
                     "serverInfo": {"name": "stub", "version": "1", "environ": dict(os.environ)}})
    sys.stdin.readline()  # notifications/initialized
    sys.stdin.readline()
    if then == "dies":
        print("\n".join(f"line {number}" for number in range(100)), file=sys.stderr, flush=True)
        sys.exit(3)
    if then == "echoes-badly":
        print("this is no JSON", flush=True)
    if then == "echoes-deeply":
        print("[" * 100_000, flush=True)
    time.sleep(600)


main(sys.argv[1])
