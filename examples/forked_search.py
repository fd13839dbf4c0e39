#!/usr/bin/env python3
"""A search over parameters that begins each try in a copy of one loaded state.

    python3 examples/forked_search.py pyexecd --config examples/sessions.yaml

The data are made once. Each try has them at once and may change them as it likes: the session that
it is a copy of stays as it is.
"""

import sys

from client import Client, ToolError

LOAD = """
import random
random.seed(1)
points = [(x / 100, 3 * x / 100 + 2 + random.gauss(0, 0.1)) for x in range(1000)]
"""

# Each one changes the points, and would spoil them for the next.
TRY = """
slope = {slope}
points[:] = [(x, y - slope * x) for x, y in points]
offset = sum(y for x, y in points) / len(points)
sum((y - offset) ** 2 for x, y in points)
"""

SLOPES = [1, 2, 3, 4]


def try_slope(client, loaded, slope):
    """The error that is left with SLOPE."""
    result = client.run_python(TRY.format(slope=slope), fork=loaded)
    copy = result["session"]["name"]
    client.request("tools/call", {"name": "manage_sessions", "arguments": {"action": "close", "session": copy}})
    return float(result["stdout"])


def main():
    with Client(*sys.argv[1:]) as client:
        loaded = client.run_python(LOAD, session="new")["session"]["name"]
        try:
            errors = {slope: try_slope(client, loaded, slope) for slope in SLOPES}
        except ToolError as error:
            sys.exit(f"no copy: {error}")
        for slope, error in errors.items():
            print(f"slope {slope}: {error:.1f}")
        print("best:", min(errors, key=errors.get))
        print("points are left:", client.run_python("len(points), points[0][0]", session=loaded)["stdout"].strip())


if __name__ == "__main__":
    main()
