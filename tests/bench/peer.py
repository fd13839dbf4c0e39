"""Other people's ways to run a script that are libraries: run in the benchmarks' own Python environment.

    peer.py WAY ARGUMENT...

reads a line of JSON for each order, with the code, how often it is to be run, how far apart, and what its output must
have in it, and answers with the microseconds of each run. They are timed here, in the process that uses the library.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import sys
import tempfile
import time
import types
import warnings

warnings.simplefilter("ignore")  # that code is run on this machine


def ag2(environment):
    """AG2's environments: a process or `docker exec` for each run."""
    def run(code):
        done = asyncio.run(environment.execute_code(code, "script.py"))
        return done["stdout"] if done["success"] else str(done)

    return run


@contextlib.contextmanager
def ag2_system(python):
    from autogen.environments import SystemPythonEnvironment
    with SystemPythonEnvironment(executable=python) as environment:
        yield ag2(environment)


@contextlib.contextmanager
def ag2_venv(path):
    from autogen.environments import VenvPythonEnvironment
    with VenvPythonEnvironment(venv_path=path) as environment:
        yield ag2(environment)


@contextlib.contextmanager
def ag2_docker(image):
    from autogen.environments import DockerPythonEnvironment
    with DockerPythonEnvironment(image=image, network="none") as environment:
        yield ag2(environment)


@contextlib.contextmanager
def autogen(executor):
    """AutoGen's executors; they live in one event loop."""
    from autogen_core import CancellationToken
    from autogen_core.code_executor import CodeBlock

    def run(code):
        block = CodeBlock(language="python", code=code)
        return loop.run_until_complete(executor.execute_code_blocks([block], CancellationToken())).output

    with contextlib.closing(asyncio.new_event_loop()) as loop:
        loop.run_until_complete(executor.start())
        yield run
        loop.run_until_complete(executor.stop())


@contextlib.contextmanager
def autogen_local(python):
    from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor
    context = types.SimpleNamespace(env_exe=python, bin_path=str(pathlib.Path(python).parent))
    with tempfile.TemporaryDirectory() as folder, \
            autogen(LocalCommandLineCodeExecutor(work_dir=folder, virtual_env_context=context)) as run:
        yield run


@contextlib.contextmanager
def autogen_jupyter():
    from autogen_ext.code_executors.jupyter import JupyterCodeExecutor
    with tempfile.TemporaryDirectory() as folder, autogen(JupyterCodeExecutor(output_dir=folder)) as run:
        yield run


@contextlib.contextmanager
def autogen_docker(image):
    from autogen_ext.code_executors.docker import DockerCommandLineCodeExecutor
    with tempfile.TemporaryDirectory() as folder, \
            autogen(DockerCommandLineCodeExecutor(image=image, work_dir=folder)) as run:
        yield run


class Kernel:
    def __init__(self):
        from jupyter_client.manager import start_new_kernel
        self.manager, self.client = start_new_kernel()

    def run(self, code):
        output = []

        def take(message):
            if message["msg_type"] == "stream":
                output.append(message["content"]["text"])

        self.client.execute_interactive(code, output_hook=take, timeout=60)
        return "".join(output)

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@contextlib.contextmanager
def jupyter():
    """A kernel that is kept: names and modules stay from call to call."""
    with contextlib.closing(Kernel()) as kernel:
        yield kernel.run


@contextlib.contextmanager
def each_anew(start):
    """A thing that START makes for each run; its end is not timed."""
    stack = contextlib.ExitStack()

    def run(code):
        return stack.enter_context(start())(code)

    run.end = stack.close
    with stack:
        yield run


def jupyter_start():
    import jupyter_client.manager  # noqa: F401  # once, as a program that begins many
    return each_anew(jupyter)


def autogen_jupyter_start():
    import autogen_ext.code_executors.jupyter  # noqa: F401
    return each_anew(autogen_jupyter)


@contextlib.contextmanager
def monty():
    """A session of its own for each run, in a worker that is kept."""
    import pydantic_monty

    def run(code):
        printed = pydantic_monty.CollectString()
        with pool.checkout() as session:
            session.feed_run(code, print_callback=printed)
        return printed.output

    with pydantic_monty.Monty() as pool:
        yield run


WAYS = {way.__name__: way
        for way in (ag2_system, ag2_venv, ag2_docker, autogen_local, autogen_docker, autogen_jupyter,
                    autogen_jupyter_start, jupyter, jupyter_start, monty)}


def timed(run, order):
    times = []
    for number in range(order["count"]):
        if number:
            time.sleep(order["gap"])
        begun = time.perf_counter()
        output = run(order["code"])
        times.append((time.perf_counter() - begun) * 1e6)
        getattr(run, "end", lambda: None)()
        if order["expect"] not in output:
            raise RuntimeError(output.strip().rpartition("\n")[2])
    return times


def own_output():
    """A file for the answers; what libraries print goes to stderr from now on."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def main():
    way, *arguments = sys.argv[1:]
    answers = own_output()
    with WAYS[way](*arguments) as run:
        print("{}", file=answers, flush=True)
        for line in sys.stdin:
            try:
                answer = {"us": timed(run, json.loads(line))}
            except Exception as error:
                answer = {"error": str(error).strip().rpartition("\n")[2]}
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
