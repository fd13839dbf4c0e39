"""The deadline of a script: it is interrupted and can show where it stands; half a second later everything is
killed, whatever it does."""

import signal
import time

import client
import leftovers
import pytest
from client import with_more_time
from leftovers import Watched

INTERRUPTED = 0.5  # seconds
STARTED = (2, 4, 8, 16, 24)  # seconds, in one of which a script has begun on any machine
LATE_TIMEOUT = 5  # seconds
SOON = 20.0  # what comes at once comes by then, on any machine
STUBBORN = {
    "ignores it": "signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(1)",
    "goes on": "while True:\n    try: time.sleep(100)\n    except KeyboardInterrupt: print('no', flush=True)",
    "floods": "try: time.sleep(100)\nfinally:\n    while True: print('x' * 1000)",
    "stops itself": "signal.signal(signal.SIGINT, lambda *_: os.kill(os.getpid(), signal.SIGSTOP))\ntime.sleep(100)",
    "leaves a child": "child = os.fork()\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(100)",
}


@pytest.fixture
def server():
    with Watched() as server:
        server.initialize()
        yield server


def run(server, code, timeout, **arguments):
    answer = server.call_tool("run_python", {"code": code, "timeout": timeout, **arguments},
                              timeout=timeout + client.TIMEOUT)
    return answer["structuredContent"]


def timed_out(server, code, shows):
    """The result of CODE at its timeout, when that came after what SHOWS(it) wants."""
    result = with_more_time(lambda timeout: run(server, code, timeout), shows, STARTED)
    assert result["timed_out"], result
    return result


def gives_in(result):
    """A script has half a second for it, which a busy machine does not always leave it."""
    return result["signal"] != "SIGKILL"


def test_what_a_script_has_printed_before_its_timeout_arrives(server):
    """All of it: standard error, where nothing has to be flushed, says how much that is."""
    result = timed_out(server, "import sys, time\nfor i in range(1000):\n    print('line', i)\n"
                               "    print(i, file=sys.stderr)\n    time.sleep(0.1)",
                       lambda result: gives_in(result) and "0\n" in result["stderr"])
    told = [line for line in result["stderr"].splitlines() if line.isdigit()]
    assert told and len(result["stdout"].splitlines()) - len(told) in (0, 1)


def test_a_timeout_shows_where_the_script_stood(server):
    result = timed_out(server, "import time\ndef wait():\n    time.sleep(100)\nwait()",
                       lambda result: gives_in(result) and "in wait" in result["stderr"])
    assert not result["success"]
    assert "line 3, in wait\n" in result["stderr"]
    assert result["stderr"].endswith("KeyboardInterrupt\n")
    assert any(f"timed out after {seconds} seconds" in result["error"] for seconds in STARTED)


def test_a_script_can_clean_up_at_its_timeout(server):
    result = timed_out(server, "import time\ntry: time.sleep(100)\nfinally: print('cleaned up')",
                       lambda result: result["stdout"])
    assert result["stdout"] == "cleaned up\n"
    assert result["timings"]["run"] < STARTED[-1] + SOON


def test_only_the_program_itself_is_interrupted(server):
    result = timed_out(server, "import signal, subprocess, sys\n"
                               "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'])\n"
                               "signal.pause()",
                       lambda result: gives_in(result) and "signal.pause()" in result["stderr"])
    assert result["stderr"].count("KeyboardInterrupt") == 1
    assert not server.survivors()


def test_a_script_that_waits_for_a_signal_waits_for_its_own(server):
    result = run(server, "import signal\nsignal.signal(signal.SIGALRM, lambda *_: print('woken'))\n"
                         "signal.alarm(3)\nsignal.pause()\nprint('went on')", timeout=60)
    assert result["success"] and result["stdout"] == "woken\nwent on\n"


@pytest.mark.parametrize("code", STUBBORN.values(), ids=STUBBORN)
def test_a_script_that_does_not_end_is_killed(server, code):
    seconds = []

    def run_for(timeout):
        before = time.monotonic()
        result = run(server, f"import os, signal, time\n{code}", timeout)
        seconds[:] = [time.monotonic() - before - timeout]
        return result

    result = with_more_time(run_for, lambda result: result["signal"] == "SIGKILL", STARTED)
    assert result["timed_out"] and result["signal"] == "SIGKILL"
    assert INTERRUPTED <= seconds[0]
    assert not server.survivors()


def test_a_script_that_ends_well_within_the_grace_has_timed_out_all_the_same(server):
    result = timed_out(server, "import time\ntry: time.sleep(100)\nexcept KeyboardInterrupt: print('bye')",
                       lambda result: result["stdout"])
    assert not result["success"] and result["returncode"] == 0


@pytest.mark.shared  # meets its script through files
def test_a_cancel_kills_at_once(tmp_path):
    with Watched(config={"working_directory": str(tmp_path)}) as server:
        server.initialize()
        call = server.start_tool("run_python", {"code": """import time
open("began", "w").close()
try:
    time.sleep(100)
finally:
    open("cleaned up", "w").close()"""})
        assert leftovers.until((tmp_path / "began").exists)
        server.cancel(call)
        assert not server.survivors(SOON)
        assert not (tmp_path / "cleaned up").exists()


# A server that is late

@pytest.mark.shared  # meets its script through files
def test_a_server_that_was_stopped_takes_no_script_for_late(tmp_path):
    with Watched(config={"working_directory": str(tmp_path)}) as server:
        server.initialize()
        until = time.monotonic() + LATE_TIMEOUT + 1
        call = server.start_tool("run_python", {"timeout": LATE_TIMEOUT, "code": """import time
open("began", "w").close()
time.sleep(0.2)
print("done")
open("done", "w").close()"""})
        assert leftovers.until((tmp_path / "began").exists)
        server.process.send_signal(signal.SIGSTOP)
        assert leftovers.until((tmp_path / "done").exists)
        time.sleep(max(until - time.monotonic(), 0))
        server.process.send_signal(signal.SIGCONT)
        result = server.wait(call)["result"]["structuredContent"]
        assert result["success"] and result["stdout"] == "done\n", result


# What was printed a second ago

def test_what_is_printed_without_a_flush_is_told_while_the_script_runs(server):
    call = server.start_tool("run_python", {"code": "import time\nprint('working')\ntime.sleep(100)", "timeout": 90},
                             "token")
    assert leftovers.until(lambda: said(server, "token", "working"))
    server.cancel(call)


def said(server, token, text):
    """True when a progress message with TEXT has come by now."""
    server.request("ping")
    return any(text in note.get("message", "") for note in server.progress(token))


@pytest.mark.parametrize("waiting", [
    "while True: pass",
    "subprocess.run(['sleep', '100'])",
    "threading.Thread(target=time.sleep, args=[100]).start(); threading.enumerate()[-1].join()",
    "os.read(os.pipe()[0], 1)",
], ids=["busy", "child", "thread", "pipe"])
def test_what_a_stubborn_script_has_printed_is_in_its_result(server, waiting):
    result = timed_out(server, "import os, signal, subprocess, threading, time\n"
                               "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                               f"print('early')\n{waiting}",
                       lambda result: result["stdout"] and result["signal"] == "SIGKILL")
    assert result["stdout"] == "early\n"
    assert result["signal"] == "SIGKILL" and not result["stderr"]


def test_a_flush_in_the_middle_of_a_write_does_no_harm(server):
    """The signal comes whenever it wants: nothing is lost, doubled or out of order."""
    result = run(server, """
import os, signal, sys, threading, time
def hurry():
    end = time.monotonic() + 2
    while time.monotonic() < end:
        os.kill(os.getpid(), signal.SIGURG)
        time.sleep(0.0001)
threading.Thread(target=hurry).start()
for i in range(200000):
    print(i)
""", timeout=120)
    assert result["success"], result
    assert result["stdout_bytes"] == sum(len(f"{i}\n") for i in range(200000))
    assert not result["stderr"]


def test_a_script_that_replaces_its_output_flushes_it_by_itself(server):
    result = run(server, """
import sys, time
class Tee:
    def write(self, text): return sys.__stdout__.write(text.upper())
    def flush(self): sys.__stdout__.write("flushed ")
sys.stdout = Tee()
print("early")
time.sleep(2.2)
sys.stdout = sys.__stdout__
""", timeout=120)
    assert result["success"] and result["stdout"] == "EARLY\n", result
