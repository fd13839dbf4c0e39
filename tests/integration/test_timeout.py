"""The deadline of a script: it is interrupted and can show where it stands; half a second later everything is
killed, whatever it does."""

import time

import leftovers
import pytest
from leftovers import Watched

INTERRUPTED = 0.5  # seconds
BUSY = 5.0 if leftovers.sanitized() else 3.0  # more than a busy machine needs
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


def run(server, code, timeout=2, **arguments):
    answer = server.call_tool("run_python", {"code": code, "timeout": timeout, **arguments})
    return answer["structuredContent"]


def test_what_a_script_has_printed_before_its_timeout_arrives(server):
    result = run(server, "import time\nfor i in range(100):\n    print('line', i)\n    time.sleep(0.1)")
    assert result["timed_out"]
    assert len(result["stdout"].splitlines()) >= 17


def test_a_timeout_shows_where_the_script_stood(server):
    result = run(server, "import time\ndef wait():\n    time.sleep(100)\nwait()", timeout=1)
    assert result["timed_out"] and not result["success"]
    assert "line 3, in wait\n" in result["stderr"]
    assert result["stderr"].endswith("KeyboardInterrupt\n")
    assert "timed out after 1 second" in result["error"]


def test_a_script_can_clean_up_at_its_timeout(server):
    result = run(server, "import time\ntry: time.sleep(100)\nfinally: print('cleaned up')", timeout=1)
    assert result["timed_out"] and result["stdout"] == "cleaned up\n"
    assert result["timings"]["run"] < 1 + INTERRUPTED


def test_only_the_program_itself_is_interrupted(server):
    result = run(server, "import signal, subprocess, sys\n"
                         "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'])\n"
                         "signal.pause()", timeout=1)
    assert result["timed_out"] and result["stderr"].count("KeyboardInterrupt") == 1
    assert not server.survivors(1)


@pytest.mark.parametrize("code", STUBBORN.values(), ids=STUBBORN)
def test_a_script_that_does_not_end_is_killed(server, code):
    before = time.monotonic()
    result = run(server, f"import os, signal, time\n{code}", timeout=1)
    assert result["timed_out"] and result["signal"] == "SIGKILL"
    assert 1 + INTERRUPTED <= time.monotonic() - before < 1 + INTERRUPTED + BUSY
    assert not server.survivors(1)


def test_a_script_that_ends_well_within_the_grace_has_timed_out_all_the_same(server):
    result = run(server, "import time\ntry: time.sleep(100)\nexcept KeyboardInterrupt: print('bye')", timeout=1)
    assert result["timed_out"] and not result["success"] and result["returncode"] == 0


def test_a_cancel_kills_at_once(server, tmp_path):
    began, cleaned_up = tmp_path / "began", tmp_path / "cleaned up"
    call = server.start_tool("run_python", {"code": f"""import time
open({str(began)!r}, "w").close()
try:
    time.sleep(100)
finally:
    open({str(cleaned_up)!r}, "w").close()"""})
    assert leftovers.until(began.exists, 20)
    server.cancel(call)
    assert not server.survivors(BUSY)
    assert not cleaned_up.exists()
