#!/usr/bin/env python3
"""A scatter plot that code draws, saves and shows: the picture comes back as a model would see it.

    python3 examples/scatter.py seen.png pyexecd --config examples/code-blocks.yaml
"""

import base64
import pathlib
import sys

from client import Client

CODE = """
import random
import matplotlib.pyplot as plt

random.seed(1)
heights = [random.gauss(170, 10) for _ in range(200)]
weights = [height * 0.9 - 85 + random.gauss(0, 8) for height in heights]
plt.scatter(heights, weights, s=8, color="red")
plt.xlabel("height in cm")
plt.ylabel("weight in kg")
plt.savefig("scatter.png")
plt.show()
"""


def main():
    seen, *command = sys.argv[1:]
    with Client(*command) as client:
        arguments = {"code": CODE, "timeout": 300}
        answer = client.request("tools/call", {"name": "run_python", "arguments": arguments})
        for block in answer["content"]:
            if block["type"] == "image":
                pathlib.Path(seen).write_bytes(base64.b64decode(block["data"]))
            elif block["type"] == "text":
                print(block["text"])


if __name__ == "__main__":
    main()
