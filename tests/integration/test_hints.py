"""Hints about what scripts really did: the Python of this machine writes the errors, and two
environments and the packages that the second one lists are what can be advised."""

import pytest

import client
from test_script_block import text

CONFIG = {
    "default_environment": "small",
    "environments": {
        "small": {"type": "system", "timeout": 15, "max_timeout": 15,
                  "limits": {"memory": "256MiB", "processes": 24}},
        "science": {"type": "venv", "pip_packages": ["no-such-package-anywhere"],
                    "limits": {"memory": "512MiB", "processes": 24}, "timeout": 15},
    },
    "callers": {"define_environments": True},
}
CODE_ALONE = {"experimental": {"pyexecd/code-alone": {}}}  # a model writes no argument but the code
ARGUMENTS = ["environment_definition", "environment:", "`timeout`", "`files`", "working_directory:"]
SAID = [
    ("```python\n6 * 7\n```", "The code came in a Markdown fence"),
    ("6 * 7", "Line 1 is a bare expression"),
    ("Here it is:\n```python\n6 * 7\n```", "the code begins behind the fence (```) in line 2"),
    ("x = 1\n```\n", "Line 2 is a Markdown fence"),
    ("!pip install nothing-like-it\nimport os", "environment_definition: {\"type\": \"venv\", "
                                                "\"pip_packages\": [\"nothing-like-it\"]}"),
    ("import os\n!ls", "Line 2 is a shell command"),
    ("%matplotlib inline\nimport os", "what began with % was left out"),
    ("import os\n%timeit os", "Line 2 is a magic command"),
    ("x = '''\n%matplotlib inline\n'''\nprint(x)", None),
    ("import asyncio\nawait asyncio.sleep(1)", "Put line 2 into `async def main():`"),
    ("import no_such_package_anywhere", "call with environment: \"science\""),
    ("import nothing_like_it", "nor as a file of yours. To have packages, call"),
    ("import sys; sys.exit('error: externally-managed-environment')", "A script cannot install"),
    ("open('sale.csv')", "The working directory has no sale.csv, but it has sales.csv"),
    ("import pathlib; pathlib.Path('sale.csv').read_text()", "but it has sales.csv"),
    ("open('/mnt/data/sales.csv')", "open it as \"sales.csv\""),
    ("open('out/x', 'w')", "no directory out. To write there, make it first"),
    ("import subprocess; subprocess.run(['no-such-program'])", None),
    ("open('script.py', 'w')", "script.py is the program that runs"),
    ("input('? ')", "Nobody can answer input()"),
    ("print(rows)", "An earlier call has defined \"rows\""),
    ("print(columns)", None),
    ("x = bytearray(1 << 30)", "limit of memory is 256 MiB; environment \"science\" has 512 MiB."),
    ("import threading, time\nfor i in range(100):\n"
     "    threading.Thread(target=time.sleep, args=(3,), daemon=True).start()",
     "24 processes and threads"),
    ("import subprocess\nsubprocess.Popen(['sleep', '1000'])\nprint('started')", "1 process of it still ran"),
    ("import os, subprocess\nchild = subprocess.Popen(['sleep', '1000'])\nchild.kill()\n"
     "os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)\nprint('killed')", None),
    ("display(1)", "display() is of notebooks"),
    ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "faulthandler.enable()"),
    ("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)", None),
    ("1 / 0", None),
    ("print(42)", None),
    ("import sys; print(42, file=sys.stderr)\n6 * 7", None),
]


@pytest.fixture(scope="module")
def server():
    with client.Server(config=CONFIG) as server:
        server.initialize()
        call(server, "open('sales.csv', 'w').close()\nrows = [1]")
        yield server


def call(server, code, **arguments):
    return server.call_tool("run_python", {"code": code, **arguments})


# The words of each hint that no other text of a result has.
WORDS = ("fence", "left out", "bare expression", "notebooks", "magic", "async def main", "environment_definition",
         "call with environment", "working directory", "script.py is", "input()", "earlier call",
         "limit of memory", "processes and threads", "still ran", "of notebooks", "faulthandler", "install")


@pytest.mark.parametrize("code, said", SAID, ids=[code.split("\n")[0] for code, _ in SAID])
def test_a_hint_is_said_when_it_is_true(server, code, said):
    answer = text(call(server, code))
    if said:
        assert said in answer
    else:
        assert not [word for word in WORDS if word in answer], answer


def test_a_command_with_a_hundred_thousand_packages_is_answered_in_short(server):
    """As it was, the server was so busy with its hint that its watchdog ended it."""
    names = " ".join(f"p{number}" for number in range(100_000))
    hint = text(call(server, f"!pip install {names}")).partition("Line 1 is a command of notebooks")[2]
    assert hint and len(hint) < 1000


def test_a_timeout_says_what_may_be_asked_for(server):
    def answer_after(seconds):
        return text(client.given_time(lambda: call(server, "import time\ntime.sleep(100)", timeout=seconds)))

    answer = answer_after(8)
    assert "it was at line 2 (time.sleep(100)). `timeout` may be up to 15." in answer
    answer = answer_after(15)
    assert "Environment \"science\" allows a `timeout` of up to 600." in answer


def test_a_block_that_is_passed_over_is_named_when_the_run_fails(server):
    block = "# /// script\n# dependencies = ['nothing-like-it']\n# ///\n"
    assert "Leave that out" in text(call(server, block + "import nothing_like_it",
                                         environment="small"))
    assert "passed over" not in text(call(server, block + "print(1)", environment="small"))


@pytest.mark.parametrize("code", [
    "import nothing_like_it", "import no_such_package_anywhere", "import time\ntime.sleep(60)", "open('C:\\\\Users\\\\a.csv')",
    "print([])\nimport glob\nprint(glob.glob('*.pdf'))", "open('a.txt', 'w').write('text')", "bytearray(1 << 40)"])
def test_who_writes_code_alone_reads_of_no_argument(code):
    with client.Server(config=CONFIG) as server:
        server.initialize(capabilities=CODE_ALONE)
        said = text(server.call_tool("run_python", {"code": code, "timeout": 2}))
        assert not [name for name in ARGUMENTS if name in said], said
