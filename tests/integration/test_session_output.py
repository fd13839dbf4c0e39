"""What a cell prints comes with this cell, whatever it or an earlier one has done to its outputs; or it is told where it goes."""

import pytest
from client import Server
from sessions import Session

TEE = """
import sys
class Tee:
    def __init__(self, *files): self.files = files
    def write(self, text):
        for file in self.files: file.write(text)
"""
WRAP = "sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')"


@pytest.fixture(scope="module", params=["warm", "cold"])
def server(request):
    config = {"environments": {"it": {"type": "system", "start": request.param}}, "sessions": {}}
    with Server("--results", "structured", config=config) as server:
        server.initialize()
        yield server


@pytest.fixture
def session(server):
    session = Session(server, "import ctypes, io, os, sys")
    yield session
    server.call_tool("manage_sessions", {"action": "close", "session": session.name})


def outputs(session, *codes):
    """What each cell has printed."""
    return [session.run(code)["stdout"] for code in codes]


@pytest.mark.parametrize("code, printed", [
    (TEE + "sys.stdout = Tee(sys.stdout, open('log', 'w'))\nprint('one')", "one\n"),
    ("ctypes.CDLL(None).printf(b'of C\\n'); None", "of C\n"),
    ("ctypes.CDLL(None).puts(b'of C'); print('of Python'); None", "of Python\nof C\n"),
    ("sys.stdout = sys.stderr\nsys.__stdout__.write('below'); None", "below"),
    ("sys.stdout = open(1, 'w', closefd=False)\nprint('another'); None", "another\n"),
])
def test_output_comes_with_its_cell(session, code, printed):
    result = session.run(code)
    assert (result["stdout"], result["stderr"]) == (printed, "")
    assert session.run("sys.stdout = sys.__stdout__\nprint('next')")["stdout"] == "next\n"


@pytest.mark.parametrize("code, printed", [
    ("os.close(1)\nprint('this')", "this\n"),
    ("os.close(1); os.close(2)", ""),
    ("sys.stdout.close()", ""),
    ("sys.stdout.detach(); None", ""),
    ("sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding='utf-8')\nprint('this')", "this\n"),
    (WRAP + "\nprint('this')", "this\n"),
    (WRAP + "\n" + WRAP, ""),
    (TEE + "sys.stdout = Tee(sys.stdout)\nsys.__stdout__.close()", ""),
    ("sys.stderr.close()", ""),
    ("sys.stdout.reconfigure(encoding='latin-1')\nsys.stdout.reconfigure(encoding='utf-8')\nos.close(1)\nprint('é')", "é\n"),
])
def test_every_cell_has_a_usable_output(session, code, printed):
    assert outputs(session, code, "print('é')", "'value'") == [printed, "é\n", "'value'\n"]
    result = session.run("print('before'); 1 / 0")
    assert result["stdout"] == "before\n" and "ZeroDivisionError" in result["stderr"]
    assert session.run("os.system('echo of a child'); None")["stdout"] == "of a child\n"


def test_a_stream_may_be_wrapped_again_and_again(session):
    for _ in range(3):
        session.run(WRAP)  # which closes what the one before has wrapped
        assert session.run("print('there')")["stdout"] == "there\n"


@pytest.mark.parametrize("code, told, remedy", [
    ("sys.stdout = open('log', 'w')", "sys.stdout is a TextIOWrapper now", "sys.stdout = sys.__stdout__"),
    ("sys.stdout = io.StringIO()", "sys.stdout is a StringIO now", "sys.stdout = sys.__stdout__"),
    ("sys.stdout = None", "sys.stdout is None now", "sys.stdout = sys.__stdout__"),
    ("saved = os.dup(1); os.dup2(os.open('log', os.O_CREAT | os.O_WRONLY), 1)", "/log now: sys.stdout goes there", "os.dup2(saved, 1)"),
    ("os.close(1); file = open('log', 'w')", "/log now: sys.stdout goes there", None),
])
def test_output_that_goes_elsewhere_is_told_of(session, code, told, remedy):
    for each in code, "print('there')":
        result = session.run(each)
        assert result["stdout"] == "" and told in result["stderr"], result
    if remedy is None:
        assert "restart the session" in result["stderr"]
        session.server.call_tool("manage_sessions", {"action": "restart", "session": session.name})
    else:
        session.run(remedy)
    result = session.run("print('here')")
    assert (result["stdout"], result["stderr"]) == ("here\n", "")


@pytest.mark.here  # sessions on nodes have no copies
def test_a_copy_has_outputs_of_its_own(session):
    copy = Session(session.server, "import os\nos.close(1)\nprint('of the copy')", fork=session.name)
    assert copy.result["stdout"] == "of the copy\n"
    assert outputs(copy, "print('again')") == ["again\n"]
    assert outputs(session, "os.close(1)\nprint('of the original')", "print('next')") == ["of the original\n", "next\n"]
    copy.server.call_tool("manage_sessions", {"action": "close", "session": copy.name})
