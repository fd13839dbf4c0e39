"""Sessions in Jupyter kernels: real ones, and one that is the enemy."""

import base64
import contextlib
import glob
import json
import os
import pathlib
import re
import subprocess
import time

import pytest

import client
import sessions
from leftovers import descendants, read, until
from pictures import BLUE, RED, Pixels, halves
from sessions import Session, given_in

ROGUE = pathlib.Path(__file__).with_name("rogue_kernel.py")
MODES = {"silent": "signal", "dies": "signal", "unsigned": "signal", "rogue": "signal", "message": "message"}


@contextlib.contextmanager
def opened(**environments):
    with client.Server(config={"sessions": {"number": 32, "number_per_client": 32},
                               "default_environment": next(iter(environments)),
                               "environments": environments}) as server:
        server.initialize()
        yield server


def running(server, word):
    """The processes that SERVER has started, in whatever way, with WORD in their command."""
    return [pid for pid in descendants(server.process.pid) if word in read(f"/proc/{pid}/cmdline")]


def ipython(**more):
    return {**sessions.venv("jupyter"), "kernel": "python3", **more}


@pytest.fixture(scope="module")
def server():
    python = str(sessions.DEPS / "jupyter" / "bin" / "python")
    with opened(venv=ipython(), bare=ipython(isolation="none"),
                system={"type": "system", "executable": python, "kernel": "python3"}) as server:
        yield server


@pytest.fixture
def session(server):
    session = Session(server, "x = 5", timeout=sessions.SECONDS)
    yield session
    server.call_tool("manage_sessions", {"action": "close", "session": session.name})


@pytest.mark.parametrize("name", ["venv", "system", "bare"])
def test_state_stays_and_values_are_shown(server, name):
    session = Session(server, "x = 5\nprint('printed')\nx + 1", environment=name, timeout=sessions.SECONDS)
    assert session.result["stdout"] == "printed\n6\n"
    assert session.result["stderr"] == ""
    assert session.result["isolation"] == ("none" if name == "bare" else "sandbox")
    assert session.shown("import sys; print('aside', file=sys.stderr)\nx * 2") == "10"
    assert session.result["stderr"] == "aside\n"
    assert session.shown("await __import__('asyncio').sleep(0, 7)") == "7"
    assert session.shown("!echo $x") == "5"


def test_an_error_is_a_failure_with_its_traceback(session):
    result = session.run("def f():\n    return x / 0\nf()")
    assert not result["success"] and result["returncode"] == 1
    assert "ZeroDivisionError" in session.text and "return x / 0" in session.text
    assert "\x1b" not in session.text
    assert session.shown("x") == "5"


def test_a_syntax_error_and_the_text_of_a_question(session):
    assert not session.run("def")["success"]
    assert "SyntaxError" in session.text
    assert "number of items" in session.shown("len?")


def test_pictures_are_seen_and_are_files(session):
    png = base64.b64encode(halves(64, 32)).decode()
    session.run("import base64\nfrom IPython.display import Image, display\n"
                f"display(Image(base64.b64decode({png!r})))\nx")
    [name] = session.files()
    assert name.startswith("display-") and session.result["stdout"] == f"[{name}]\n5\n"
    pixels = Pixels(base64.b64decode(session.images[0]["data"]))
    assert (pixels[5, 5], pixels[5, 30]) == (RED, BLUE)


def test_a_figure_is_a_picture_without_being_asked_for(session):
    session.run("import matplotlib.pyplot as plt\n"
                "plt.figure(facecolor='red').add_axes((0.5, 0, 0.5, 1), facecolor='blue');",
                timeout=sessions.SECONDS)
    [name] = session.files()
    assert session.result["stdout"] == f"[{name}]\n", session.result
    pixels = Pixels(base64.b64decode(session.images[0]["data"]))
    assert pixels[5, pixels.height // 2] == RED
    assert "<Figure" not in session.text


def test_rich_values_are_as_in_other_sessions(session):
    assert session.shown("from IPython.display import HTML, Markdown, SVG\nMarkdown('# Title')") == "# Title"
    assert re.fullmatch(r"\[display-\d+\.html\]", session.shown("HTML('<b>page</b>')"))
    session.run("class Both:\n    def _repr_html_(self): return '<b>'\n    def __repr__(self): return 'both'\nBoth()")
    assert session.result["stdout"] == "both\n"


@pytest.mark.parametrize("code", ["import time; time.sleep(600)", "while True: pass"])
def test_a_timeout_interrupts_and_the_variables_stay(server, code):
    session = given_in(lambda: Session(server, "x = 5", timeout=sessions.SECONDS), code)
    assert session.shown("x", timeout=30) == "5"


def test_an_interrupt_before_the_kernel_has_begun_a_cell_is_not_lost(server):
    session = given_in(lambda: Session(server, "x = 5", timeout=sessions.SECONDS), "import time; time.sleep(600)", timeout=1e-6)
    assert session.shown("x", timeout=30) == "5"


def test_code_that_ignores_the_interrupt_is_killed_and_the_state_is_gone(session):
    code = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(600)"
    result = client.with_more_time(lambda timeout: session.run(code, timeout=timeout),
                                   lambda result: not result["session"]["alive"])
    assert result["timed_out"] and not result["session"]["alive"]
    assert "its variables are gone" in session.text
    assert session.is_gone()


def test_one_hundred_megabytes_in_one_print_and_in_many(session):
    for code in ("print('x' * 100_000_000)", "for _ in range(100_000): print('y' * 999)"):
        result = session.run(code, timeout=sessions.SECONDS)
        assert result["success"] and result["truncated"], result["stderr"]
        assert result["stdout_bytes"] == 100_000_000 + code.startswith("print")
    assert session.shown("x") == "5"


@pytest.mark.parametrize("code, reason", [
    ("import os; os.kill(os.getpid(), 9)", "killed by SIGKILL"),
    ("import os; os._exit(3)", "exitcode: 3"),
    ("import ctypes; ctypes.string_at(0)", "killed by SIGSEGV"),
])
def test_a_kernel_that_dies_says_so_once(server, code, reason):
    session = Session(server, f"print('before', flush=True)\n{code}", timeout=sessions.SECONDS)
    assert reason in session.text and "its variables are gone" in session.text
    assert session.is_gone()


def test_a_kernel_that_ends_its_relay_ends_its_session(session):
    """It has the same user, and so may: it harms nobody else."""
    session.run("import os; os.kill(os.getppid(), 9)")
    assert not session.result["session"]["alive"]
    assert session.is_gone()


def test_no_other_session_sees_the_sockets(server, session):
    code = "import glob\nlen(glob.glob('/dev/shm/pyexecd-jupyter-*'))"
    others = [Session(server, code, environment=name, timeout=sessions.SECONDS) for name in ("venv", "bare")]
    assert [each.result["stdout"] for each in others] == ["1\n", "1\n"]
    assert not glob.glob("/dev/shm/pyexecd-jupyter-*")


def test_a_cell_that_speaks_for_its_client(session):
    """The sockets and the key are its own. What its kernel does for others ends no cell of the session."""
    session.run("""
import glob, jupyter_client
[path] = glob.glob("/dev/shm/pyexecd-jupyter-*/kernel.json")
other = jupyter_client.BlockingKernelClient(connection_file=path)
other.load_connection_file()
other.start_channels()
other.execute("import time; time.sleep(1); y = 7")""")
    assert session.result["success"], session.result
    # Two clients of a kernel: which one's next message comes first is not known.
    assert until(lambda: session.run("x + y")["success"])
    assert session.result["stdout"] == "12\n", session.result


def test_nothing_outlives_a_session(server):
    session = Session(server, "import subprocess\n"
                              "child = subprocess.Popen(['sleep', '4321.5'], start_new_session=True)",
                      timeout=sessions.SECONDS)
    assert running(server, b"4321.5")
    server.call_tool("manage_sessions", {"action": "close", "session": session.name})
    assert until(lambda: not running(server, b"4321.5"))


def test_a_restart_leaves_the_name_and_the_files(server):
    session = Session(server, "open('kept', 'w').close()\nx = 1", timeout=sessions.SECONDS)
    server.call_tool("manage_sessions", {"action": "restart", "session": session.name})
    session.run("import os; print(os.path.exists('kept'), 'x' in globals())", timeout=sessions.SECONDS)
    assert session.result["stdout"] == "True False\n", session.result


def test_there_is_no_copy(server, session):
    answer = server.call_tool("run_python", {"code": "x", "fork": session.name})
    assert answer["isError"]
    assert "cannot be copied: it is in a Jupyter kernel" in answer["content"][0]["text"]


def test_a_kernel_that_is_missing_is_named_with_those_that_are_there():
    with opened(it=ipython(kernel="none-such")) as server:
        session = Session(server, "1")
        assert 'no Jupyter kernel "none-such"' in session.text and "python3" in session.text
        assert session.is_gone()


def test_a_python_without_pyzmq_says_so():
    place = str(sessions.DEPS / "jupyter" / "share" / "jupyter")
    with opened(it={**sessions.venv("ipython"), "kernel": "python3", "environment": {"JUPYTER_PATH": place},
                    "read": [place]}) as server:
        session = Session(server, "1", timeout=sessions.SECONDS)
        assert "has no pyzmq, which sessions in Jupyter kernels need" in session.text
        assert session.is_gone()


def test_files_of_the_working_directory_stand_for_no_module_of_the_relay(server):
    names = ("json", "zmq", "hmac", "base64", "subprocess")
    session = Session(server, "\n".join(f"open('{name}.py', 'w').write('1 / 0')" for name in names), timeout=sessions.SECONDS)
    server.call_tool("manage_sessions", {"action": "restart", "session": session.name})
    assert session.shown("1 + 1", timeout=sessions.SECONDS) == "2", session.text


@pytest.mark.parametrize("command", ["--check-config", "doctor"])
@pytest.mark.parametrize("kernel", ["python3", "none-such"])
def test_the_operator_is_told_what_is_missing(tmp_path, command, kernel):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"environments": {"it": ipython(kernel=kernel)}}))
    done = subprocess.run([os.environ["PYEXECD"], command, "--config", str(config)], capture_output=True, text=True)
    said = done.stdout + done.stderr
    if kernel == "python3":
        assert done.returncode == 0 and "no Jupyter kernel" not in said, said
    else:
        assert done.returncode == 78 and 'no Jupyter kernel "none-such"' in said and "python3" in said, said


# Kernels of other languages, and those that mean harm


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """The names of environments with a kernel each, found by JUPYTER_PATH."""
    place = tmp_path_factory.mktemp("kernels")
    folder = place / "kernels"
    specs = {"bash": (["python", "-m", "bash_kernel", "-f", "{connection_file}"], "signal")}
    for mode, interrupt in MODES.items():
        specs[mode] = (["python", "{resource_dir}/rogue.py", mode, "{connection_file}"], interrupt)
    for name, (argv, interrupt) in specs.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "kernel.json").write_text(json.dumps({
            "argv": argv, "display_name": name, "language": "x", "interrupt_mode": interrupt, "env": {"GIVEN": name}}))
        (folder / name / "rogue.py").write_text(ROGUE.read_text())
    for each in (place, *place.rglob("*")):
        each.chmod(0o755)
    place.parent.chmod(0o755)
    place.parent.parent.chmod(0o755)
    more = {"environment": {"JUPYTER_PATH": str(place)}, "read": [str(place)], "limits": {"memory": "1GiB"}}
    with opened(**{name: ipython(kernel=name, **more) for name in specs}) as server:
        yield server


def begun(server, name, code="say hello"):
    return Session(server, code, environment=name, timeout=sessions.SECONDS)


def test_another_language(kernels):
    session = given_in(lambda: begun(kernels, "bash", "x=5"), "sleep 600")
    assert session.shown("echo $x", timeout=30) == "5"
    session = begun(kernels, "bash", "x=5; echo $GIVEN")
    assert session.result["stdout"].strip() == "bash"
    assert session.shown("echo $((x + 1))") == "6"
    assert not session.run("false")["success"]


def test_an_interrupt_by_a_message(kernels):
    session = given_in(lambda: begun(kernels, "message"), "wait")
    assert "interrupt_request" in session.result["stdout"]
    assert session.shown("say on") == "on"


def test_messages_that_mean_nothing_are_dropped(kernels):
    session = begun(kernels, "rogue")
    result = session.run("nonsense")
    assert result["success"] and result["stdout"].endswith("after"), result
    assert "not signed" not in result["stdout"]
    assert result["stderr"].rstrip().endswith("messages of the kernel were dropped: not signed, or no messages")
    assert session.run("say on")["stderr"] == ""


def test_only_the_end_of_a_cell_ends_it(kernels):
    session = begun(kernels, "rogue")
    assert session.shown("forge") == "after"
    assert session.shown("say on") == "on"


def test_a_kernel_that_never_says_that_it_is_idle(kernels):
    session = begun(kernels, "rogue")
    assert session.shown("never idle") == "here"
    assert session.shown("say on") == "on"


def test_a_kernel_that_hangs_is_killed(kernels):
    session = begun(kernels, "rogue")
    assert not session.run("hang", timeout=1)["session"]["alive"]
    assert session.is_gone()


def test_a_flood_of_messages(kernels):
    session = begun(kernels, "rogue")
    result = session.run("flood", timeout=sessions.SECONDS)
    assert result["stdout_bytes"] == 100_000_000 and result["success"]
    assert session.shown("say on") == "on"


def test_a_stream_without_end(kernels):
    session = begun(kernels, "rogue")
    result = session.run("stream without end", timeout=3)
    assert result["timed_out"] and result["stdout"].startswith("ss"), result
    assert begun(kernels, "rogue", "say on").result["stdout"] == "on"


@pytest.mark.parametrize("code", ["huge message", "message without end", "end in a message"])
def test_a_message_that_never_becomes_one_ends_the_session(kernels, code):
    """At the memory limit at the latest."""
    session = begun(kernels, "rogue")
    result = session.run(code, timeout=sessions.SECONDS)
    assert not result["timed_out"] and not result["session"]["alive"], result
    assert session.is_gone()
    assert begun(kernels, "rogue", "say on").result["stdout"] == "on"


@pytest.mark.parametrize("code", ["disturb the relay", "take the sockets away"])
def test_a_kernel_that_disturbs_its_relay(kernels, code):
    session = begun(kernels, "rogue")
    assert session.shown(code) == "after"
    assert session.shown("say on") == "on"


def test_a_kernel_that_stops_its_relay_is_killed(kernels):
    session = begun(kernels, "rogue")
    result = session.run("stop the relay", timeout=1)
    assert result["timed_out"] and not result["session"]["alive"], result
    assert session.is_gone()


def test_what_a_kernel_leaves_behind_ends_with_its_session(kernels):
    others = running(kernels, b"rogue\0")  # of sessions before, some of which are just ending

    def mine():
        return set(running(kernels, b"rogue\0")).difference(others)

    session = begun(kernels, "rogue")
    alone = mine()
    session.run("escape")
    assert alone < mine()
    kernels.call_tool("manage_sessions", {"action": "close", "session": session.name})
    assert until(lambda: not mine())


@pytest.mark.parametrize("name, reason, timeout", [
    ("silent", "it has not answered yet", 5),
    ("unsigned", "not signed as it should", 15),  # in which it has begun, on a busy machine too
])
def test_a_kernel_that_never_answers(kernels, name, reason, timeout):
    began = time.monotonic()
    session = Session(kernels, "say x", environment=name, timeout=timeout)
    assert time.monotonic() - began < 60 + timeout
    assert session.result["timed_out"] and not session.result["session"]["alive"]
    assert reason in session.result["stderr"]
    assert session.is_gone()


def test_a_kernel_that_ends_at_once(kernels):
    session = begun(kernels, "dies")
    assert "it has ended before it was ready" in session.result["stderr"]
    assert session.is_gone()
