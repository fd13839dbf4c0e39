"""AG2's own DockerPythonEnvironment, timed from inside: one line of milliseconds for each line read.

    ag2_docker.py IMAGE SCRIPT

Its package has no version that offers the class to a model any more; the class itself is there.
"""

import asyncio
import pathlib
import sys
import time

from autogen.environments import DockerPythonEnvironment


def main():
    image, script = sys.argv[1:]
    code = pathlib.Path(script).read_text()
    with DockerPythonEnvironment(image=image, network="none") as environment:
        print("ready", flush=True)
        for _ in sys.stdin:
            begun = time.perf_counter()
            done = asyncio.run(environment.execute_code(code, "script.py"))
            milliseconds = (time.perf_counter() - begun) * 1000
            if not done["success"]:
                sys.exit(f"AG2: {done}")
            print(milliseconds, flush=True)


if __name__ == "__main__":
    main()
