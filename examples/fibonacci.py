#!/usr/bin/env python3
"""A message of an assistant whose code blocks are executed, with the reply that it gets.

    python3 examples/fibonacci.py pyexecd --config examples/code-blocks.yaml
"""

import sys

from client import Client

MESSAGE = """
To print the 14th Fibonacci number, I define a function first:

```python
# filename: fibonacci.py
def fibonacci(n):
    before, number = 0, 1
    for _ in range(n - 1):
        before, number = number, before + number
    return number
```

The second block imports what the first one has saved:

```python
from fibonacci import fibonacci

print(fibonacci(14))
```
"""


def main():
    with Client(*sys.argv[1:]) as client:
        arguments = {"message": MESSAGE, "timeout": 300}
        answer = client.request("tools/call", {"name": "run_code_blocks", "arguments": arguments})
        print(answer["content"][0]["text"])
        sys.exit(answer.get("isError", False))


if __name__ == "__main__":
    main()
