"""Other people's ways to run a script that are libraries: run in the benchmarks' own Python environment.

    peer.py WAY ARGUMENT...

reads a line of JSON for each order, with the code, how often it is to be run, how far apart, and what its output must
have in it, and answers with the microseconds of each run. They are timed here, in the process that uses the library.
"""

import asyncio
import contextlib
import importlib
import json
import os
import pathlib
import sys
import tempfile
import time
import types
import warnings

warnings.simplefilter("ignore")  # that code is run on this machine
READABLE = "/usr", "/bin", "/lib", "/lib64", "/etc", "/dev", "/proc"


def ag2(environment):
    """AG2's environments: a process or `docker exec` for each run."""
    folder = tempfile.TemporaryDirectory()

    def run(code):
        done = asyncio.run(environment.execute_code(code, os.path.join(folder.name, "script.py")))
        return done["stdout"] if done["success"] else str(done)

    return run


@contextlib.contextmanager
def ag2_system(python, package="autogen.environments"):
    with importlib.import_module(package).SystemPythonEnvironment(executable=python) as environment:
        yield ag2(environment)


@contextlib.contextmanager
def ag2_venv(path, package="autogen.environments"):
    with importlib.import_module(package).VenvPythonEnvironment(venv_path=path) as environment:
        yield ag2(environment)


@contextlib.contextmanager
def ag2_docker(image, package="autogen.environments"):
    with importlib.import_module(package).DockerPythonEnvironment(image=image, network="none") as environment:
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


def venv_context(python):
    """What AutoGen takes to run a PYTHON that is not its own."""
    return types.SimpleNamespace(env_exe=python, bin_path=str(pathlib.Path(python).parent))


@contextlib.contextmanager
def autogen_local(python, package="autogen_ext.code_executors.local"):
    make = importlib.import_module(package).LocalCommandLineCodeExecutor
    context = None if python == sys.executable else venv_context(python)
    with tempfile.TemporaryDirectory() as folder, \
            autogen(make(work_dir=folder, virtual_env_context=context)) as run:
        yield run


@contextlib.contextmanager
def autogen_jupyter(package="autogen_ext.code_executors.jupyter"):
    make = importlib.import_module(package).JupyterCodeExecutor
    with tempfile.TemporaryDirectory() as folder, autogen(make(output_dir=folder)) as run:
        yield run


@contextlib.contextmanager
def autogen_docker(image, package="autogen_ext.code_executors.docker"):
    make = importlib.import_module(package).DockerCommandLineCodeExecutor
    with tempfile.TemporaryDirectory() as folder, autogen(make(image=image, work_dir=folder)) as run:
        yield run


def coding(executor):
    """The executors of AutoGen 0.2, which AG2 has kept."""
    from autogen.coding import CodeBlock
    return lambda code: executor.execute_code_blocks([CodeBlock(language="python", code=code)]).output


@contextlib.contextmanager
def coding_local(package="autogen.coding"):
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # its `python`
    with tempfile.TemporaryDirectory() as folder:
        yield coding(importlib.import_module(package).LocalCommandLineCodeExecutor(work_dir=folder))


@contextlib.contextmanager
def coding_docker(image, package="autogen.coding"):
    make = importlib.import_module(package).DockerCommandLineCodeExecutor
    with tempfile.TemporaryDirectory() as folder, make(image, work_dir=folder) as executor:
        yield coding(executor)


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


@contextlib.contextmanager
def sandlock(python, packages):
    """A process for each run, which Landlock and seccomp hold; no namespaces."""
    import sandlock as library

    with tempfile.TemporaryDirectory() as folder:
        box = library.Sandbox(fs_readable=[*READABLE, packages], fs_writable=[folder])
        script = pathlib.Path(folder, "script.py")

        def run(code):
            script.write_text(code)
            done = box.run([python, str(script)])
            return done.stdout.decode() if done.success else str(done)

        yield run


@contextlib.contextmanager
def llm_sandbox():
    """bubblewrap for each run, in a session that keeps its files."""
    from llm_sandbox import SandboxBackend, SandboxSession

    with SandboxSession(backend=SandboxBackend.BUBBLEWRAP, lang="python", skip_environment_setup=True) as session:
        yield lambda code: session.run(code).stdout


WAYS = {way.__name__: way
        for way in (ag2_system, ag2_venv, ag2_docker, autogen_local, autogen_docker, autogen_jupyter,
                    autogen_jupyter_start, coding_local, coding_docker, jupyter, jupyter_start, monty, sandlock,
                    llm_sandbox)}


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
