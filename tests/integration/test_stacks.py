"""Where the threads of a copied Python were at the timeout of its script (environments/process/core/stacks.h)."""

import time

import pytest
from client import with_more_time
from leftovers import Watched
from test_zygote import call, copy, serving

INTERRUPTED = 0.5  # seconds
SLEEP = "import time\ndef fetch():\n    time.sleep(60)\n"


@pytest.fixture(scope="module")
def server():
    with serving() as server:
        yield server


def time_out(server, code, timeout=1):
    """The result of CODE, run in a copy that has been ended."""
    copy(server)
    result = server.call_tool("run_python", {"code": code, "timeout": timeout})
    structured = result["structuredContent"]
    assert structured["timed_out"] and structured["timings"]["warm"], structured
    assert structured["timings"]["run"] < timeout + INTERRUPTED + 20
    copy(server)
    return structured, result["content"][0]["text"]


def asked(server, code, shows):
    """The same, when SHOWS(the structured result) says that all was done which takes time: the script had come to where
    it waits, and was asked. A busy machine does not always leave it that time."""
    return with_more_time(lambda timeout: time_out(server, code, timeout), lambda result: shows(result[0]))


def stands_at(line):
    """True when the main thread is known to have been at LINE of the script."""
    return lambda structured: bool(structured["stacks"] and structured["stacks"][0]["main"] and
                                   own(structured["stacks"][0])[:1] and own(structured["stacks"][0])[0][0] == line)


def own(stack):
    return [(frame["line"], frame["function"]) for frame in stack["frames"] if frame["file"].endswith("/script.py")]


def test_the_main_thread_is_where_its_script_stands(server):
    structured, _ = asked(server, SLEEP + "def main():\n    fetch()\nmain()", stands_at(3))
    (stack,) = structured["stacks"]
    assert stack["main"] and own(stack) == [(3, "fetch"), (5, "main"), (6, "<module>")]
    assert stack["frames"][0]["file"] == structured["script"]


def test_code_that_holds_the_interpreter_is_found_all_the_same(server):
    structured, _ = asked(server, "def power():\n    return 9 ** 99999999\npower()", stands_at(2))
    assert own(structured["stacks"][0]) == [(2, "power"), (3, "<module>")]


def test_threads_at_the_same_place_are_told_together(server):
    code = SLEEP + "import threading\nfor _ in range(4): threading.Thread(target=fetch).start()\nwhile True:\n    pass"
    structured, text = asked(server, code, lambda result: len(result["stacks"] or []) == 2 and
                             own(result["stacks"][1]) == [(3, "fetch")] and result["stacks"][1]["threads"] == 4)
    main, others = structured["stacks"]
    assert (main["main"], others["main"], others["threads"]) == (True, False, 4)
    assert own(others) == [(3, "fetch")]
    assert "; 4 other threads were at line 3 (time.sleep(60)) in fetch." in text, text


def test_the_main_thread_is_not_lost_among_many(server):
    code = SLEEP + "import threading\nthreading.stack_size(1 << 18)\n" \
                   "for _ in range(150): threading.Thread(target=fetch).start()\nfetch()"
    structured, _ = asked(server, code, stands_at(3))
    assert own(structured["stacks"][0]) == [(3, "fetch"), (7, "<module>")]


def test_the_model_reads_where_a_script_was_that_says_nothing_itself(server):
    code = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + SLEEP + "fetch()"
    _, text = asked(server, code, stands_at(5))
    assert "When the time was over, it was at line 5 (time.sleep(60)) in fetch, called from line 6." in text, text


HIDDEN = {
    "blocks all signals": "import signal\nsignal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())\n",
    "ignores all signals": "import signal\nfor number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:\n"
                           "    signal.signal(number, signal.SIG_IGN)\n",
    "is another program": "import os\nos.execv('/bin/sleep', ['sleep', '60'])\n",
    "has stopped": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n",
}


@pytest.mark.parametrize("code", HIDDEN.values(), ids=HIDDEN)
def test_a_script_that_cannot_be_asked_is_ended_in_time(server, code):
    structured, text = asked(server, code + "import time\ntime.sleep(60)",
                             lambda result: result["stacks"] is None and result["usage"]["cpu_seconds"] > 0)
    assert structured["signal"] in ("SIGINT", "SIGKILL") and structured["stacks"] is None
    assert "When the time was over" not in text
    assert structured["usage"]["cpu_seconds"] > 0  # its supervisor was not held up, and could tell


def test_no_descriptor_of_the_script_is_needed(server):
    code = "import os, time\nos.closerange(0, 3)\nwhile True:\n    try: os.dup(os.open('/', 0))\n" \
           "    except OSError: break\n" + SLEEP + "fetch()"
    structured, _ = asked(server, code, stands_at(8))
    assert own(structured["stacks"][0])[0][1] == "fetch"


# The memory into which the stacks are written is the script's, too. It keeps Python from writing there.
FORGED = """
import ctypes, signal, threading
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])
start, end = next(tuple(int(number, 16) for number in line.split()[0].split("-"))
                  for line in open("/proc/self/maps") if " rw-s " in line and "/dev/zero" in line)
HEAD = (1).to_bytes(4, "little") + (LENGTH).to_bytes(4, "little")
forged = (HEAD + TEXT * (end - start))[:end - start]
def forge():
    while True:
        ctypes.memmove(start, forged, len(forged))
threading.Thread(target=forge, daemon=True).start()
threading.Event().wait()
"""
FORGERIES = {
    "words": ('b"Stack (\\n  File \\"/x/script.py\\", line 7 in \\x1b[2Jf\\n"', 32 << 10),
    "noise": ("bytes(range(256))", 32 << 10),
    "nothing": ("bytes(1)", 0),
    "too much": ('b"Thread 0x1\\n  File \\"a\\", line 1 in b\\n"', 0xffffffff),
}


@pytest.mark.parametrize("text, length", FORGERIES.values(), ids=FORGERIES)
def test_what_a_script_forges_is_a_text_within_bounds(server, text, length):
    structured, shown = asked(server, FORGED.replace("TEXT", text).replace("LENGTH", str(length)),
                              lambda result: any(frame["line"] == 7 for stack in result["stacks"] or []
                                                 for frame in stack["frames"]) == ("line 7" in text))
    stacks = structured["stacks"] or []
    assert len(stacks) <= 16 and all(len(stack["frames"]) <= 24 for stack in stacks)
    assert all(name.isprintable() and name.isascii() for stack in stacks for frame in stack["frames"]
               for name in (frame["file"], frame["function"]))
    assert "\x1b" not in shown
    assert ("at line 7 in ?[2Jf" in shown) == ("line 7" in text)
    assert structured["usage"]["cpu_seconds"] > 0  # its supervisor lives, and has told
    assert copy(server, "print(1)")["stdout"] == "1\n"


def test_a_flood_of_signals_and_children_ends_in_time(server):
    before = time.monotonic()
    time_out(server, "import os, signal\nsignal.signal(signal.SIGURG, lambda *_: None)\n"
                     "while True:\n    os.kill(os.getpid(), signal.SIGURG)\n    if not os.fork(): os._exit(0)\n    os.wait()")
    assert time.monotonic() - before < 60


def test_the_script_sees_nothing_of_it(server):
    """Not even the process that writes: it is nobody's child that the script knows."""
    structured, _ = asked(server, """
import os, sys, threading, time
def look():
    return (sorted(os.listdir('/proc/self/fd')), threading.active_count(), 'faulthandler' in sys.modules)
before = look()
try:
    time.sleep(60)
except KeyboardInterrupt:
    print(look() == before, before[2])
    try: print(os.wait())
    except ChildProcessError: print('no child')
""", lambda result: stands_at(7)(result) and result["returncode"] == 0)
    assert structured["stdout"] == "True False\nno child\n" and structured["returncode"] == 0
    assert structured["stacks"][0]["frames"][0]["line"] == 7 and structured["ended_processes"] == 0


def test_the_starter_has_the_names_by_which_stacks_leave_it_out(server):
    """It may be at work in the main thread just then."""
    named = copy(server, "import signal\nprint(signal.getsignal(signal.SIGURG).__code__.co_filename)")
    assert named["stdout"] == "/proc/self/fd/100/sitecustomize.py\n"


def test_a_script_that_ends_in_time_or_starts_cold_has_none(server):
    assert copy(server, "print(1)")["stacks"] is None
    with Watched(config={"environments": {"system": {"type": "system", "start": "cold"}}}) as cold:
        cold.initialize()
        structured = call(cold, SLEEP + "fetch()", timeout=1)
        assert structured["timed_out"] and structured["stacks"] is None
