"""A table of scripts as models write them, with the hints that they read: in calls, and in cells of a session. Each row is
a script and a part of its only hint, or None where the model needs none. Libraries that this machine may lack are stood in
for by the words that they use."""

import pytest

import client
from test_script_block import text

CONFIG = {
    "default_environment": "small",
    "results": "structured",
    "sessions": {},
    "environments": {
        "small": {"type": "system", "timeout": 20, "max_timeout": 20,
                  "limits": {"memory": "512MiB", "processes": 40}},
        "science": {"type": "venv", "pip_packages": ["no-such-package-anywhere"]},
    },
    "callers": {"define_environments": True},
}

CALL, CELL, BOTH = ("call",), ("cell",), ("call", "cell")
SHARED = "from multiprocessing import shared_memory\nm = shared_memory.SharedMemory(create=True, size=9)\nm.close(); m.unlink()\n"
STARTED = """import multiprocessing as mp
def work(x): print(x)
if __name__ == "__main__":
    p = mp.get_context("{}").Process(target=work, args=(1,)); p.start(); p.join()
"""
CLICK = "import sys; print(\"Usage: script.py [OPTIONS] NAME\\n\\nError: Missing argument 'NAME'.\", file=sys.stderr); sys.exit(2)"
ARGPARSE = "import argparse\np = argparse.ArgumentParser()\np.add_argument('x')\np.parse_args()"


def dies(words, kind="OSError"):
    """A script that ends by what a library says."""
    return f"class {kind.split('.')[-1]}(Exception): pass\n{kind.split('.')[-1]}.__module__ = {'.'.join(kind.split('.')[:-1])!r}\n" \
           f"raise {kind.split('.')[-1]}({words!r})" if "." in kind else f"raise {kind}({words!r})"


def says(words):
    return f"import sys; sys.exit({words!r})"


NO_NETWORK = "This environment has no network"
ROWS = [
    # What is in order.
    (BOTH, "print(42)", None),
    (BOTH, "x = 7", None),
    (BOTH, "def main():\n    print('done')\nmain()", None),
    (CALL, "def main():\n    pass\nmain()", None),
    (CALL, "import os\nos.path.exists('a') or os.getcwd()", None),
    (CALL, "import logging\nlogging.info('a')", None),
    (CALL, "import sys\nsys.stdout.write('')", None),
    (CALL, "import gc\ngc.collect()", None),
    (CALL, "import random\nrandom.seed(1)", None),
    (CALL, "class A:\n    def list(self): pass\na = A()\na.list()", None),
    (CALL, "[print(end='') for _ in range(2)]", None),
    (BOTH, "1 / 0", None),
    (BOTH, "x = (", None),
    (BOTH, "raise SystemExit(3)", None),
    (BOTH, "import json; json.loads('')", None),
    (BOTH, "{}['OPENAI_API_KEY']", None),
    (BOTH, "[][1]", None),
    (BOTH, "int('')", None),
    (BOTH, SHARED + "print('shared')", None),
    (CALL, STARTED.format("spawn"), None),
    (CALL, STARTED.format("forkserver"), None),
    (CALL, "import subprocess\nsubprocess.run(['sleep', '0'])\nprint(1)", None),
    (BOTH, "print([])", None),
    (BOTH, "print('fatal: no')", None),
    (BOTH, "import os\nopen('my_script.py', 'w').close()\nprint(os.path.exists('my_script.py'))", None),
    # Values that are not shown.
    (CALL, "6 * 7", "Line 1 is a bare expression"),
    (CELL, "6 * 7", None),
    (CALL, "x = [3, 1]\nsorted(x)", "Line 2 is a bare expression"),
    (CALL, "x = {'a': 1}\nx['a']", "Line 2 is a bare expression"),
    (CALL, "x = 'abc'\nx.upper()", "Line 2 is a bare expression"),
    (CALL, "x = 3\nx == 3 and not (x > 5)", "Line 2 is a bare expression"),
    # Processes.
    (CALL, "import subprocess\nsubprocess.Popen(['sleep', '100'])\nprint(1)", "1 process of it still ran"),
    (CALL, SHARED + "import subprocess\nsubprocess.Popen(['sleep', '100'])\nprint(1)", "1 process of it still ran"),
    # Values from outside.
    (BOTH, "input('name? ')", "Nobody can answer input()"),
    (BOTH, "import sys\nn = int(sys.stdin.readline())", "Standard input is empty here"),
    (BOTH, "import sys\nwords = sys.stdin.read().split()\nfirst = words[0]", "Standard input is empty here"),
    (CALL, "import sys\nfor line in sys.stdin:\n    print(line)", "Standard input is empty here"),
    (BOTH, "import json, sys\njson.load(sys.stdin)", "Standard input is empty here"),
    (BOTH, "import sys\nname = sys.argv[1]", "Scripts get no arguments here"),
    (BOTH, "import sys\n_, name = sys.argv", "Scripts get no arguments here"),
    (CALL, "import sys\nif len(sys.argv) < 2:\n    print('Usage: a.py NAME')\n    sys.exit(1)", "Scripts get no arguments here"),
    (CALL, ARGPARSE, "parse_args([\"VALUE\"])"),
    (CALL, CLICK, "main([\"VALUE\"])"),
    (BOTH, "import os\nos.environ['OPENAI_API_KEY']", "so OPENAI_API_KEY is not set"),
    (BOTH, dies("set it by the OPENAI_API_KEY environment variable", "openai.OpenAIError"), "so OPENAI_API_KEY is not set"),
    (BOTH, dies("Please pass an `api_key`, or set the `OPENAI_API_KEY` or `OPENAI_ADMIN_KEY` environment variable.",
                "openai.OpenAIError"), "so OPENAI_API_KEY is not set"),
    (BOTH, dies("Unable to locate credentials", "botocore.exceptions.NoCredentialsError"), "Scripts have none of your credentials"),
    (BOTH, "import os\nprint(os.getenv('HOME') is None)", None),
    (CALL, "import sys\nprint(len(sys.argv))\nprint('Memory usage: 3')", None),
    # Code that was sent wrongly.
    (BOTH, "import os\\nprint(1)", "it was escaped twice"),
    (BOTH, "x = 1\nprint(\\\"a\\\")", "Line 2 has a backslash outside of a string"),
    (CALL, "Here it is:\n```python\n6 * 7\n```", "the code begins behind the fence (```) in line 2"),
    (CALL, "Here's the code:\n```python\nprint(1)\n```\nIt prints 1.", "Line 1 is text, not Python"),
    (CALL, "```python\nprint(1)\n```", "The code came in a Markdown fence"),
    (CALL, "x = 1\n```\n", "Line 2 is a Markdown fence"),
    (CALL, "import os\n!ls", "Line 2 is a shell command"),
    (CALL, "!pip install nothing-like-it\nimport os", "Line 1 is a command of notebooks"),
    (CALL, "pip install nothing-like-it\nimport os", "Line 1 is a command of a shell"),
    (CALL, "import os\n%timeit os", "Line 2 is a magic command"),
    (CALL, "import asyncio\nawait asyncio.sleep(0)", "Put line 2 into `async def main():`"),
    (CELL, "import asyncio\nawait asyncio.sleep(0)", None),
    # Files.
    (CALL, "open('a.csv')", "The working directory has no a.csv"),
    (BOTH, "open('C:\\\\Users\\\\me\\\\a.csv')", "That is a path of Windows"),
    (BOTH, "open('C:\\Users\\a.csv')", "That is a path of Windows"),
    (BOTH, "open('C:\\\\Users\\\\me\\\\a.csv', 'w').close()", "is a file of the working directory with just that name"),
    (BOTH, "open('/home/me/a.csv')", "/home/me/a.csv is not shown"),
    (CALL, "open('/tmp/a.csv')", "/tmp is each run's own and empty when it begins"),
    (CELL, "open('/tmp/a.csv')", "/tmp is each session's own and empty when it begins"),
    (BOTH, "open('/usr/lib/a', 'w')", "Scripts here can write to the working directory"),
    (CALL, "open('script.py', 'w')", "script.py is the program that runs"),
    (CALL, "open('out/a', 'w')", "os.makedirs(\"out\")"),
    (BOTH, "import glob\nprint(glob.glob('*.pdf'))", "The working directory is not a project"),
    (BOTH, "print('fatal: not a git repository (or any of the parent directories): .git')",
     "The working directory is not a project"),
    (BOTH, "import subprocess\nraise subprocess.CalledProcessError(128, ['git', 'log'])", "The working directory is not a project"),
    (BOTH, "import subprocess\nraise subprocess.CalledProcessError(128, ['git', 'clone', 'x'])", None),
    # Screens.
    (BOTH, dies("Cannot load backend 'TkAgg' which requires the 'tk' interactive framework, as 'headless' is currently running",
                "ImportError"), "leave matplotlib.use() out"),
    (BOTH, dies("The function is not implemented. Rebuild the library with Windows, GTK+ 2.x or Cocoa support", "cv2.error"),
     "cv2.imwrite"),
    (BOTH, dies("could not locate runnable browser", "webbrowser.Error"), "figure.write_html"),
    (CALL, "import webbrowser\nwebbrowser.open('a.html')\nprint(1)", "nobody has seen what webbrowser.open()"),
    (CALL, "print('webbrowser.open()')", None),
    (CALL, "display(1)", "display() is of notebooks"),
    # The network.
    (BOTH, "import socket\nsocket.create_connection(('example.com', 80))", NO_NETWORK),
    (BOTH, "import urllib.request\nurllib.request.urlopen('http://example.com')", NO_NETWORK),
    (BOTH, "import socket\nsocket.create_connection(('192.0.2.1', 80), 5)", NO_NETWORK),
    (BOTH, "import socket\ntry:\n    socket.getaddrinfo('example.com', 80)\nexcept OSError as e:\n    print(e)", NO_NETWORK),
    (BOTH, "import socket\nsocket.create_connection(('127.0.0.1', 9))", "localhost is the run's own here"),
    (BOTH, says("curl: (6) Could not resolve host: example.com"), NO_NETWORK),
    (BOTH, says("fatal: unable to access 'https://a/': Could not resolve host: a"), NO_NETWORK),
    (BOTH, says("wget: unable to resolve host address 'example.com'"), NO_NETWORK),
    (BOTH, dies("Cannot connect to host a:443 ssl:default [Name or service not known]", "aiohttp.ClientError"), NO_NETWORK),
    (BOTH, dies("All connection attempts failed", "httpx.ConnectError"), NO_NETWORK),
    (BOTH, dies("Connection error.", "openai.APIConnectionError"), NO_NETWORK),
    (BOTH, "try:\n    raise OSError('Connection error.')\nexcept OSError as e:\n    print('failed:', e)", NO_NETWORK),
    (BOTH, dies('Could not connect to the endpoint URL: "https://s3.amazonaws.com/"', "botocore.exceptions.EndpointConnectionError"),
     NO_NETWORK),
    (BOTH, dies("We couldn't connect to 'https://huggingface.co' to load the files"), NO_NETWORK),
    (BOTH, says("WARNING: Retrying (Retry(total=4, connect=None))"), "scripts cannot install packages"),
    # Packages and rights.
    (CALL, "import yaml_of_nobody", "\"pip_packages\": [\"PACKAGE\"]}"),
    (CELL, "import yaml_of_nobody", "To have packages, begin a cell with %pip install PACKAGE"),
    (CALL, dies("No module named 'google'", "ModuleNotFoundError"), "[\"PACKAGE\"]"),
    (CELL, dies("No module named 'google'", "ModuleNotFoundError"), "begin a cell with %pip install PACKAGE"),
    (CALL, dies("No module named 'dns'", "ModuleNotFoundError"), "[\"dnspython\"]"),
    (CELL, dies("No module named 'dns'", "ModuleNotFoundError"), "begin a cell with %pip install dnspython"),
    (CALL, dies("No module named 'mysql'", "ModuleNotFoundError"), "[\"mysql-connector-python\"]"),
    (CELL, dies("No module named 'mysql'", "ModuleNotFoundError"), "begin a cell with %pip install mysql-connector-python"),
    (BOTH, dies("No module named 'winreg'", "ModuleNotFoundError"), "winreg is of Windows"),
    (BOTH, dies("Missing optional dependency 'tabulate'.  Use pip or conda to install tabulate.", "ImportError"),
     "That needs the package tabulate"),
    (BOTH, dies("`Import tabulate` failed.  Use pip, conda, or your preferred package management tool", "ImportError"),
     "That needs the package tabulate"),
    (BOTH, dies("\n\nImage export using the \"kaleido\" engine requires the Kaleido package", "ValueError"),
     "That needs the package kaleido"),
    (BOTH, dies("cannot import name 'a' from 'b'", "ImportError"), None),
    (BOTH, dies("Unable to find a usable engine; tried using: 'pyarrow', 'fastparquet'.", "ImportError"),
     "That needs the package pyarrow"),
    (BOTH, says("error: externally-managed-environment"), "A script cannot install packages into this Python"),
    (BOTH, says("sudo: not found"), "sudo does not work here"),
    (BOTH, "import subprocess\nsubprocess.run(['sudo', 'true'])", "sudo does not work here"),
    (BOTH, says("E: Could not open lock file /var/lib/dpkg/lock-frontend"), "Scripts here cannot install programs"),
    (BOTH, "import os\nos.chroot('.')", "The sandbox refused that"),
    # Limits and crashes.
    (CALL, "import time\ntime.sleep(100)", "When the time was over, it was at line 2 (time.sleep(100))"),
    (BOTH, "x = bytearray(1 << 40)", "The limit of memory is 512 MiB"),
    (BOTH, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "faulthandler.enable()"),
]
OURS = ("exitcode:", "Code output:", "Error output:", " ", "Files created", "To go on", "The script ", "The session ")
CASES = [(kind, code, said) for kinds, code, said in ROWS for kind in kinds]


def hints_of(result):
    """The lines of the text that neither the script has written nor belong to every result."""
    structured = result["structuredContent"]
    shown = (structured["stdout"] + "\n" + structured["stderr"]).splitlines()
    return [line for line in text(result).splitlines()
            if line and line not in shown and not line.startswith(OURS)]


@pytest.fixture(scope="module")
def server():
    with client.Server(config=CONFIG) as server:
        server.initialize()
        yield server


def run(server, kind, code):
    if kind == "call":
        return server.call_tool("run_python", {"code": code, "timeout": 2})
    begun = server.call_tool("run_python", {"code": "", "session": "new"})
    name = text(begun).split('session: "')[1].split('"')[0]
    try:
        return server.call_tool("run_python", {"code": code, "session": name})
    finally:
        server.call_tool("manage_sessions", {"action": "close", "session": name})


@pytest.mark.parametrize("kind, code, said", CASES, ids=[f"{kind}-{i}" for i, (kind, _, _) in enumerate(CASES)])
def test_the_only_hint_is_true(server, kind, code, said):
    hints = hints_of(run(server, kind, code))
    if said is None:
        assert hints == []
    else:
        assert len(hints) == 1 and said in hints[0], hints
