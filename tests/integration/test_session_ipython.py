"""IPython's syntax in the cells of a session, where it is installed; all that holds without it holds as well."""

import base64
import contextlib

import pytest

import client
import sessions
from pictures import halves
from sessions import Session, given_in

PNG = base64.b64encode(halves(64, 32)).decode()


@contextlib.contextmanager
def opened(definition):
    with client.Server(config={"sessions": {"number": 16, "number_per_client": 16},
                               "environments": {"it": definition}}) as server:
        server.initialize()
        yield server


@pytest.fixture(scope="module")
def server():
    with opened(sessions.venv("ipython")) as server:
        yield server


@pytest.fixture(params=["loaded", "not yet"])
def session(request, server):
    """One in which a cell has needed IPython before, and one in which none has."""
    session = Session(server, "x = 5")
    if request.param == "loaded":
        session.run("%who", timeout=sessions.SECONDS)
        assert session.result["success"], session.result
    yield session
    server.call_tool("manage_sessions", {"action": "close", "session": session.name})


def load(server):
    """A session in which a cell has needed IPython."""
    return Session(server, "x = 5\n%who", timeout=sessions.SECONDS)


@pytest.fixture
def loaded(server):
    session = load(server)
    yield session
    server.call_tool("manage_sessions", {"action": "close", "session": session.name})


@pytest.mark.parametrize("code, shown", [
    ("!echo $x {x + 1}", "5 6"),
    ("lines = !printf 'a\\nb\\n'\nlines", "['a', 'b']"),
    ("%env HOME=/nowhere\nimport os\nos.environ['HOME']", "env: HOME=/nowhere\n'/nowhere'"),
    ("%%capture out\nprint('captured')\n1", ""),
    ("%%bash\necho $((6 * 7))", "42"),
    ("!exit 3\n_exit_code", "3"),
    ("%matplotlib inline", ""),
    (">>> x + 1", "6"),
    ("    y = 7\n    y", "7"),
    ("import asyncio\nawait asyncio.sleep(0)\n!echo awaited", "awaited"),
    ("get_ipython().run_line_magic('who', '')", "In\t Out\t x"),
    ("from IPython.display import display, Markdown\ndisplay(Markdown('# Title'), x)", "# Title\n5"),
    ("from IPython.display import publish_display_data\npublish_display_data({'text/plain': 'plain'})", "plain"),
    ("x % 3, 'what?!'", "(2, 'what?!')"),
    ("exit()", ""),
    ("import builtins, sys\nhasattr(sys, 'ps1'), open is builtins.open", "(False, True)"),
])
def test_syntax(session, code, shown):
    assert session.shown(code, timeout=sessions.SECONDS).removesuffix("\t") == shown


def test_times_are_measured(session):
    shown = session.shown("%timeit -n 2 -r 1 x + 1", timeout=sessions.SECONDS)
    assert "per loop" in shown and "\x1b" not in shown
    shown = session.shown("%%time\ny = x + 1\ny")
    assert "Wall time" in shown and shown.endswith("\n6")
    assert session.shown("y") == "6"


def test_help_is_printed_without_colours(session):
    shown = session.shown("def f(a):\n    'What it is for.'\nf?", timeout=sessions.SECONDS)
    assert "f(a)" in shown and "What it is for." in shown and "\x1b" not in shown


def test_history(server):
    session = Session(server, "6 * 7")
    assert session.shown("In[1], Out[1], _, _1") == "('6 * 7', 42, 42, 42)"
    assert session.shown("%history -n 1-2", timeout=sessions.SECONDS).endswith("2: In[1], Out[1], _, _1")
    assert session.shown("'Out'; Out[1] + 1") == "43"
    session.run("big = [0] * 1000")
    for _ in range(120):
        session.run("big")
    assert session.shown("len(Out)") == "100"


def test_what_ipython_displays_arrives(session):
    code = ("import base64\nfrom IPython.display import HTML, Image, SVG, display\n"
            f"display(Image(data=base64.b64decode('{PNG}')), HTML('<p>'))\nSVG(data='<svg/>')")
    shown = session.shown(code, timeout=sessions.SECONDS).splitlines()
    assert [name.partition(".")[2] for name in shown] == ["png]", "html]", "svg]"]
    assert len(session.images) == 1 and len(session.files()) == 3


@pytest.mark.parametrize("code, shown", [
    ("%nosuch", "UsageError: Line magic function `%nosuch` not found.\n"),
    ("%%nosuch\na", "UsageError: Cell magic `%%nosuch` not found.\n"),
])
def test_what_is_used_wrongly_is_said_in_a_line(loaded, code, shown):
    result = loaded.run(code)
    assert result["returncode"] == 1 and result["stderr"] == shown


@pytest.mark.parametrize("code, frames", [
    ("def f():\n    return x / 0\nf()", 2),
    ("%time x / 0", 2),
    ("%%time\ny = 1\nx / 0", 2),
    ("x = = 1", 1),
])
def test_a_traceback_has_no_frames_of_ipython_and_no_colours(loaded, code, frames):
    result = loaded.run(code)
    assert result["returncode"] == 1 and "\x1b" not in result["stderr"]
    assert result["stderr"].count("File ") == frames, result["stderr"]
    assert loaded.shown("x") == "5"


@pytest.mark.parametrize("code", [
    "!sleep 600",
    "!sleep 600; echo not",
    "%time import time; time.sleep(600)",
    "%timeit -n 1 -r 1 while True: pass",
    "lines = !sleep 600",
    "while True: pass",
    "import asyncio; await asyncio.sleep(600)",
])
def test_a_timeout_interrupts_and_the_variables_stay(server, code):
    session = given_in(lambda: load(server), f"print('before')\n{code}", lambda result: "before" in result["stdout"])
    assert session.result["stdout"].startswith("before\n") and "KeyboardInterrupt" in session.result["stderr"]
    assert session.shown("x") == "5"
    server.call_tool("manage_sessions", {"action": "close", "session": session.name})


def test_what_a_command_leaves_ends_with_its_interrupt(server):
    loaded = given_in(lambda: load(server), "!sleep 600 | sleep 600")
    assert loaded.shown("!grep -l '^sleep' /proc/[0-9]*/cmdline 2>/dev/null; true") == ""


def test_nothing_is_left_in_the_working_directory_or_home(server):
    session = Session(server, "import os\n%mkdir -p fresh\n%cd -q fresh\n%who\nos.environ['HOME'] = os.getcwd()",
                      timeout=sessions.SECONDS)
    assert session.shown("%history -n 1\n!true\nos.listdir('.')").endswith("[]")


def test_output_comes_in_order(loaded):
    assert loaded.shown("print('1')\n!echo 2\nprint('3')") == "1\n2\n3"


def test_a_command_reads_nothing(loaded):
    assert loaded.shown("!cat; echo end") == "end"


def test_a_module_is_read_again_when_it_has_changed(loaded):
    loaded.run("%load_ext autoreload\n%autoreload 2\nimport os, sys\nsys.path.insert(0, os.getcwd())\n"
               "open('changing.py', 'w').write('value = 1')\nimport changing\nos.utime('changing.py', (1, 1))")
    loaded.run("open('changing.py', 'w').write('value = 22')")
    assert loaded.shown("changing.value") == "22"


def test_names_of_the_cells_own_are_kept(server):
    session = Session(server, "open = 'mine'\nexit = 'too'")
    assert session.shown("%who", timeout=sessions.SECONDS)
    assert session.shown("open, exit") == "('mine', 'too')"


def test_without_a_use_of_it_ipython_is_not_loaded(server):
    session = Session(server, "import sys\nprint('%d?!' % 5)")
    assert session.shown("'IPy' 'thon' in sys.modules") == "False"


def test_one_that_is_broken_is_reported_and_cells_go_on():
    with opened({"type": "system"}) as server:
        Session(server, "open('IPython.py', 'w').write('1 / 0')")
        session = Session(server, "x = 5")
        stderr = session.run("!echo 1")["stderr"]
        assert stderr.startswith("IPython cannot be used: ZeroDivisionError") and "SyntaxError" in stderr
        assert session.shown("# IPython\nx") == "5" and session.result["stderr"] == ""


def test_without_ipython_its_syntax_is_a_syntax_error():
    with opened({"type": "venv"}) as server:
        session = Session(server, timeout=sessions.SECONDS)
        assert "SyntaxError" in session.run("!echo 1")["stderr"]
        assert "NameError" in session.run("Out")["stderr"]
        assert session.shown("display(5)") == "5"
