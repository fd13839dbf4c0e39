"""Copies of sessions: `fork` of run_python."""

import contextlib
import os
import pathlib
import signal
import time

import pytest

import client
import leftovers
import sessions
from sessions import call, given_in, text_of

CONFIG = {"sessions": {"number": 12, "number_per_client": 12}}
NO_CGROUP = "gives a copy no cgroup"
MEBIBYTE = 1 << 20
PROGRAM_LIMIT = 120  # seconds, for what takes none


class Session(sessions.Session):
    """One that can be copied."""

    def fork(self, code="pass", **more):
        return Session(self.server, code, fork=self.name, **more)

    def refused(self, **more):
        """Why there is no copy."""
        answer = call(self.server, "print('executed')", fork=self.name, **more)
        assert answer["isError"] and "executed" not in text_of(answer), answer
        return text_of(answer)

    def close(self):
        self.server.call_tool("manage_sessions", {"action": "close", "session": self.name})


def needs_copies(server):
    """Skips where the machine gives no cgroups; closes what it has begun."""
    origin = Session(server)
    answer = call(server, "pass", fork=origin.name)
    if NO_CGROUP in text_of(answer):
        pytest.skip("this machine gives no cgroup of its own to a copy")
    origin.close()


@contextlib.contextmanager
def serve(kind=client.Server, **more):
    with kind(config={**CONFIG, **more}) as server:
        server.initialize()
        needs_copies(server)
        yield server


@pytest.fixture
def server():
    with serve() as server:
        yield server


def test_a_copy_has_the_state_and_leaves_the_original_as_it_is(server):
    origin = Session(server, "import os, random\nx = [1]\nrandom.seed(5)\nos.mkdir('below')\nos.chdir('below')")
    copy = origin.fork("x.append(2)\nx, random.random(), os.path.basename(os.getcwd())")
    assert copy.result["success"], copy.text
    state = copy.result["stdout"]
    assert state.startswith("([1, 2], ") and "below" in state and copy.name != origin.name
    assert f'pass session: "{copy.name}"' in copy.text
    assert origin.shown("x") == "[1]"
    assert copy.shown("x.append(3); x") == "[1, 2, 3]"
    # Random numbers go on where they were, in both.
    assert origin.shown("x.append(2)\nx, random.random(), os.path.basename(os.getcwd())") == state.strip()


def test_a_copy_can_be_copied_and_each_goes_on_alone(server):
    origin = Session(server, "x = 0")
    first = origin.fork("x = 1")
    second = first.fork("x += 10")
    first.close()
    assert second.shown("x") == "11"
    third = second.fork("x += 100; x")
    assert third.result["stdout"] == "111\n"
    assert origin.shown("x") == "0"


def test_copies_that_are_asked_for_at_once_come_all(server):
    origin = Session(server, "x = 7")
    calls = [server.start_tool("run_python", {"code": f"x * {n}", "fork": origin.name}) for n in range(6)]
    assert [server.wait(each)["result"]["structuredContent"]["stdout"] for each in calls] == \
        [f"{7 * n}\n" for n in range(6)]


def test_a_copy_waits_for_the_cell_that_is_at_work(server):
    origin = Session(server, "import os, time\nx = 1")
    folder = pathlib.Path(origin.shown("print(os.getcwd())"))
    code = "open('begun', 'w').close()\ntime.sleep(1)\nx = 2"
    cell = server.start_tool("run_python", {"code": code, "session": origin.name})
    assert leftovers.until((folder / "begun").exists)
    assert origin.fork("x").result["stdout"] == "2\n"
    server.wait(cell)


def test_no_cell_that_came_before_is_left_out(server):
    origin = Session(server, "x = 1")
    cell = server.start_tool("run_python", {"code": "x = 2", "session": origin.name})
    copy = server.start_tool("run_python", {"code": "x", "fork": origin.name})
    answer = server.wait(copy)["result"]
    assert "try again" in text_of(answer) if answer["isError"] else answer["structuredContent"]["stdout"] == "2\n"
    server.wait(cell)
    assert origin.fork("x").result["stdout"] == "2\n"


def parent_of(name):
    """The number of the process whose child is called NAME."""
    for directory in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (directory / "comm").read_text() == f"{name}\n":
                return int((directory / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended meanwhile
            pass
    return None


def test_a_session_that_ends_before_it_is_copied_is_named(server):
    name = f"copied-{os.getpid()}"[:15]
    origin = Session(server, f"import ctypes\nctypes.CDLL(None).prctl(15, b'{name}')")
    supervisor = parent_of(name)
    os.kill(supervisor, signal.SIGSTOP)
    copy = server.start_tool("run_python", {"code": "1", "fork": origin.name})
    server.request("ping")  # the call has been read
    time.sleep(0.3)
    os.kill(supervisor, signal.SIGKILL)
    text = text_of(server.wait(copy)["result"])
    assert "the session has ended before it was copied" in text and "runner" not in text


def test_output_and_interrupts_are_those_of_the_copy(server):
    origin = Session(server, "import sys, time\nx = 1")
    copy = origin.fork("print('x' * 300000)\nsys.stderr.write('y' * 100000);")
    assert (copy.result["stdout_bytes"], copy.result["stderr_bytes"]) == (300001, 100000)
    copy = given_in(origin.fork, "x = 2\ntime.sleep(60)", lambda result: "time.sleep" in result["stderr"])
    assert "KeyboardInterrupt" in copy.result["stderr"]
    assert copy.shown("x") == "2"
    assert origin.shown("x") == "1"


def test_both_read_on_in_an_open_file_each_at_its_own_place(server):
    origin = Session(server, "open('kept', 'w').write('abcdef' * 10000)\nfile = open('kept', 'rb', buffering=0)\n"
                             "file.read(2)")
    copy = origin.fork("file.read(2)")
    assert copy.result["stdout"] == "b'cd'\n"
    assert origin.shown("file.read(3)") == "b'cde'"


def test_both_go_on_to_await(server):
    origin = Session(server, "import asyncio\nawait asyncio.sleep(0)")
    copy = origin.fork("await asyncio.sleep(0.01, 'copied')")
    assert copy.result["stdout"] == "'copied'\n"
    assert origin.shown("await asyncio.sleep(0.01, 'went on')") == "'went on'"


def test_copies_count_as_sessions():
    with serve(sessions={"number": 3, "number_per_client": 3}) as server:
        leftovers.until(lambda: "no sessions" in text_of(server.call_tool("manage_sessions", {"action": "list"})))
        origin = Session(server)
        deadline = time.monotonic() + PROGRAM_LIMIT
        while "3 of your sessions are open" not in text_of(call(server, "pass", fork=origin.name)):
            assert time.monotonic() < deadline


def test_a_copy_of_what_is_not_there_gets_the_same_answer_as_a_session(server):
    assert 'there is no session "nonsense"' in text_of(call(server, "1", fork="nonsense"))
    origin = Session(server)
    both = text_of(call(server, "1", fork=origin.name, session=origin.name))
    assert "session and fork are both given" in both
    assert "a session keeps its environment" in text_of(call(server, "1", fork=origin.name, environment_definition={"type": "system"}))


def test_a_session_that_others_are_copies_of_is_not_closed_for_being_unused():
    with serve(sessions={"session_idle": 4}) as server:
        origin = Session(server, "x = 1")
        copy = origin.fork()
        until = time.monotonic() + 9
        while time.monotonic() < until:
            assert copy.shown("x") == "1"
            time.sleep(0.1)
        assert origin.shown("x") == "1"


# Refusals

@pytest.mark.parametrize("code, reason", [
    ("import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()", "threads at work (1)"),
    ("import subprocess\nchild = subprocess.Popen(['sleep', '60'])", "child processes"),
    ("import os\nif os.fork() == 0:\n    import time; time.sleep(60)", "child processes"),
    ("import socket\npair = socket.socketpair()", "socket:"),
    ("import os\npipe = os.pipe()", "pipe:"),
    ("file = open('kept', 'w')", "open for writing"),
    ("import os\nopen('kept', 'w').close()\nfile = open('kept')\nos.remove('kept')", "that was removed"),
    ("import mmap\nshared = mmap.mmap(-1, 4096)", "memory that a copy would share"),
    ("import asyncio\nasync def later(): await asyncio.sleep(60)\ntask = asyncio.ensure_future(later())\n"
     "await asyncio.sleep(0)", "tasks of asyncio"),
])
def test_what_two_cannot_have_forbids_a_copy_and_harms_nothing(server, code, reason):
    origin = Session(server, f"x = 1\n{code};")
    assert "cannot be copied" in (why := origin.refused()) and reason in why
    assert origin.shown("x") == "1"
    assert text_of(server.call_tool("manage_sessions", {"action": "list"})).count("cells executed") == 1


def test_a_library_whose_threads_end_for_a_fork_can_be_copied(server):
    origin = Session(server)
    if not origin.run("import numpy\na = numpy.ones((500, 500))\n(a @ a)[0, 0]")["success"]:
        pytest.skip("there is no numpy")
    assert "500.0" in origin.fork("(a @ a)[0, 0]").result["stdout"]


@pytest.mark.plain
def test_without_a_cgroup_the_reason_is_told():
    with client.Server(config=CONFIG) as server:
        server.initialize()
        origin = Session(server, "x = 1")
        answer = call(server, "x", fork=origin.name)
        assert NO_CGROUP in text_of(answer) or answer["structuredContent"]["stdout"] == "1\n"
        assert origin.shown("x") == "1"


# What a copy costs, and its end

def memory_of(leaf):
    """Bytes that a cgroup has of its own; 0: it does not count memory."""
    for name in ("memory.current", "memory.usage_in_bytes"):
        text = leftovers.read(os.path.join(leaf, name))
        if text:
            return int(text)
    return 0


def test_a_copy_of_much_takes_little_memory_until_it_writes():
    with serve(kind=leftovers.Watched) as server:
        origin = Session(server, f"data = bytearray({500 * MEBIBYTE})\ndata[::4096] = b'x' * len(data[::4096])")
        before = set(server.cgroups())
        copy = origin.fork("len(data)")
        leaves = [leaf for leaf in server.cgroups() if leaf not in before]
        sizes = list(filter(None, map(memory_of, leaves)))
        if not sizes:
            pytest.skip("no cgroup counts memory")
        assert copy.result["stdout"] == f"{500 * MEBIBYTE}\n"
        assert max(sizes) < 10 * MEBIBYTE
        copy.run(f"data[:{100 * MEBIBYTE}] = bytes({100 * MEBIBYTE})")
        assert max(map(memory_of, leaves)) > 90 * MEBIBYTE


def test_the_c_library_of_a_copy_knows_the_number_of_its_thread(server):
    """Or a lock could take it for a thread of the other one."""
    code = ("import ctypes, os\naddress = ctypes.c_void_p()\n"
            "if ctypes.CDLL(None).prctl(40, ctypes.byref(address), 0, 0, 0):\n    print(True)\n"
            "else:\n    print(ctypes.c_int.from_address(address.value).value == os.getpid())")
    origin = Session(server)
    copy = origin.fork(code)
    assert copy.result["stdout"] == "True\n" and copy.fork(code).result["stdout"] == "True\n"
    assert copy.shown("import subprocess, threading\nthread = threading.Thread(target=print, args=('thread',))\n"
                      "thread.start()\nthread.join()\nprint(subprocess.run('true').returncode)") == "thread\n0"
    assert origin.shown(code) == "True"


def test_a_cell_that_has_spoilt_ctypes_can_be_copied(server):
    origin = Session(server, "import sys\nsys.modules['ctypes'] = None\nx = 1")
    assert origin.fork("print(x)").result["stdout"] == "1\n"


def test_the_end_of_a_copy_takes_all_that_it_has_started_and_nothing_else():
    with serve(kind=leftovers.Watched) as server:
        origin = Session(server, "import os, time")
        alone = len(server.processes())
        copy = origin.fork("for _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n"
                           "            time.sleep(3600)\n        time.sleep(3600)")
        assert leftovers.until(lambda: len(server.processes()) >= alone + 6)
        copy.close()
        assert leftovers.until(lambda: len(server.processes()) <= alone)
        assert origin.shown("1") == "1"


@pytest.mark.parametrize("stay", ["stays()", "os.setsid()\n        if not fork(): stays()\n        os._exit(0)"])
def test_the_end_of_a_copy_takes_what_its_fork_has_started(server, stay):
    name = f"stays-{os.getpid()}"[:15]
    hook = (f"import ctypes, os, time\nfork, prctl = ctypes.CDLL(None).fork, ctypes.CDLL(None).prctl\n"
            f"def stays():\n    prctl(15, b'{name}')\n    time.sleep(3600)\n"
            f"def hook():\n    if not fork():\n        {stay}\nos.register_at_fork(after_in_child=hook)")
    origin = Session(server, hook)
    copy = origin.fork("1")
    assert leftovers.until(lambda: parent_of(name))
    copy.close()
    assert leftovers.until(lambda: not parent_of(name))
    assert origin.shown("1") == "1"


def test_an_original_that_calls_itself_a_copy_is_none(server):
    code = ("import os, socket\nlisted = os.listdir\ndef claim(path='.'):\n    if path == '/proc/self/fd':\n"
            "        for name in listed(path):\n            try:\n"
            "                link = socket.socket(fileno=os.dup(int(name)))\n"
            "                if link.type == socket.SOCK_SEQPACKET: link.send(b'c')\n            except OSError: pass\n"
            "    return listed(path)\nos.listdir = claim")
    origin = Session(server, code)
    assert "not what it says" in origin.refused()
    assert origin.shown("1") == "1"


@pytest.mark.parametrize("end", ["import os; os._exit(3)", "import os; os.kill(os.getpid(), 9)"])
def test_a_copy_that_dies_says_so_and_the_others_live_on(server, end):
    origin = Session(server, "x = 1")
    other, copy = origin.fork(), origin.fork()
    copy.run(end)
    assert "The session has ended; its variables are gone." in copy.text and copy.is_gone()
    assert (origin.shown("x"), other.shown("x")) == ("1", "1")


def test_copies_end_with_the_first_session_and_say_why_once():
    with serve(kind=leftovers.Watched) as server:
        origin = Session(server, "import os")
        copy = origin.fork("if os.fork() == 0:\n    os.setsid()\n    while True: pass")
        origin.run("os._exit(3)")
        assert not server.survivors()
        text = text_of(call(server, "print('executed')", session=copy.name))
        assert "that which it is a copy of has ended" in text and "executed" not in text.replace("not executed", "")
        assert copy.is_gone()


def test_to_close_the_first_session_closes_its_copies():
    with serve(kind=leftovers.Watched) as server:
        origin = Session(server)
        copies = [origin.fork("import os, time"), origin.fork("import os, time")]
        copies.append(copies[0].fork())
        folder = pathlib.Path(copies[1].shown("print(os.getcwd())"))
        code = "open('begun', 'w').close()\ntime.sleep(60)"
        cell = server.start_tool("run_python", {"code": code, "session": copies[1].name})
        assert leftovers.until((folder / "begun").exists)
        origin.close()
        assert "the session was closed" in str(server.wait(cell))
        assert all(copy.is_gone() for copy in copies) and not server.survivors()
        assert "no sessions" in text_of(server.call_tool("manage_sessions", {"action": "list"}))


def test_nothing_is_left_of_copies_when_the_server_dies():
    server = leftovers.Watched(config=CONFIG)
    try:
        server.initialize()
        needs_copies(server)
        Session(server).fork("import os\nif os.fork() == 0:\n    os.setsid()\n    while True: pass")
        assert server.processes()
        server.process.kill()
        server.process.wait()
        assert not server.survivors()
    finally:
        server.kill()


def test_no_cgroup_is_left_of_many_copies():
    """Those of what waits for calls come and go, a few; a copy that left its own would leave thirty."""
    with serve(kind=leftovers.Watched) as server:
        origin = Session(server, "x = 1")
        before = len(server.cgroups())
        for _ in range(30):
            copy = origin.fork("x")
            assert copy.result["stdout"] == "1\n"
            copy.close()
        assert leftovers.until(lambda: len(server.cgroups()) <= before + 10)


def test_a_copy_has_the_limits_of_its_original():
    with serve(environments={"system": {"type": "system", "limits": {"memory": "256 MiB", "processes": 40}}}) as server:
        origin = Session(server, "x = 1")
        copy = origin.fork("import os\nmost = 0\nfor _ in range(100):\n    try:\n        pid = os.fork()\n"
                           "    except OSError:\n        break\n    if pid == 0:\n        import time; time.sleep(60)\n"
                           "    most += 1\nmost")
        assert 0 < int(copy.result["stdout"]) <= 40
        copy.close()
        greedy = origin.fork("data = bytearray(1 << 30)")
        assert greedy.result["out_of_memory"] or "MemoryError" in greedy.result["stderr"]
        assert origin.shown("x") == "1"


# Hostile ones

@pytest.mark.long
@pytest.mark.parametrize("code", [
    "import os\nos.register_at_fork(before=lambda: os._exit(9))",
    "import os\nos.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), 9))",
    "import os\nos.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), 9))",
    "import os, sys\nos.register_at_fork(after_in_child=lambda: os.write(2, b'x' * 60000) and None)",
    "import os\ndef bomb():\n    while True:\n        try: os.fork()\n        except OSError: pass\n"
    "os.register_at_fork(after_in_child=bomb)",
    "import os\nfork = os.fork\nos.fork = lambda: 1",
    "import os\nos.fork = lambda: 0",
    "import os\nos.getppid = lambda: 1",
    "import ctypes\nctypes.PyDLL = ctypes.CDLL",  # which lets other threads of Python in
    "import ctypes\ndef end(*_): raise SystemExit\nctypes.PyDLL = end",
    "import ctypes, os\nclass Library:\n    def __getattr__(self, name): return lambda *_: 0\n"
    "ctypes.PyDLL = lambda *_: Library()\nctypes.c_void_p = lambda *_: 1\nctypes.byref = id",
    "import ctypes\nclass Library(ctypes.PyDLL):\n    PyOS_AfterFork_Child = staticmethod(lambda: 1 / 0)\nctypes.PyDLL = Library",
    "import os, ctypes\nif ctypes.PyDLL(None).syscall(56, 0x8011, 0, 0, 0, 0) == 0:\n    os.setsid()\n    while True: pass",
    "import os, ctypes\nos.register_at_fork(after_in_child=lambda: ctypes.PyDLL(None).syscall(56, 0x8011, 0, 0, 0, 0))",
    "import os\nos.getppid = lambda: 2\nimport time\ntime.monotonic = lambda: 0",
    "import os\nos.read = lambda *a: b'y'\nos.write = lambda *a: 1",
    "import os, signal\ndef hold(*_):\n    while True: pass\n"
    "signal.signal(signal.SIGALRM, hold)\nsignal.setitimer(signal.ITIMER_REAL, 0.2)",
    "import os, gc\ngc.freeze = lambda: os.kill(-1, 9)",
    "import os\nfor _ in range(5000):\n    try:\n        if os.fork() == 0:\n            os.setsid()\n            while True: pass\n"
    "    except OSError: break",
    "import sys\nsys.modules.clear()",
    "import os\nos.closerange(3, 65536)",
    # Descriptors of an order go to whoever reads first: it sends what it likes over the gate.
    "import socket, threading, array, os\nlink = socket.socket(fileno=os.dup(200))\ndef steal():\n"
    "    data, beside, *_ = link.recvmsg(64, 64)\n    fds = array.array('i')\n    fds.frombytes(beside[0][2])\n"
    "    gate = socket.socket(fileno=fds[3])\n"
    "    for message in (b'c', b'', b'n' + b'\\x1b[31m' * 99, b'c' * 4096):\n"
    "        try: gate.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])\n        except OSError: pass\n"
    "threading.Thread(target=steal, daemon=True).start()",
])
def test_hostile_originals_harm_their_own_family_only(code):
    with serve(kind=leftovers.Watched) as server:
        other = Session(server, "x = 1")
        kin = other.fork()
        victim = Session(server, code, timeout=2)
        for _ in range(3):
            answer = call(server, "print(2)", fork=victim.name, timeout=2)
            assert "\x1b" not in text_of(answer)
        assert (other.shown("x"), kin.shown("x")) == ("1", "1")
        server.call_tool("manage_sessions", {"action": "close", "session": victim.name})
        other.close()
        assert not server.survivors()
        assert call(server, "print(1)")["structuredContent"]["stdout"] == "1\n"


def test_orders_that_nobody_reads_are_bounded(server):
    """Descriptors on their way count against a quota of the server's user."""
    origin = Session(server)
    busy = server.start_tool("run_python", {"code": "import time; time.sleep(60)", "session": origin.name})
    time.sleep(0.3)
    answers = []
    for _ in range(40):
        fork = server.start_tool("run_python", {"code": "1", "fork": origin.name})
        server.cancel(fork)
    deadline = time.monotonic() + PROGRAM_LIMIT
    while not any("has not read what was sent before" in text for text in answers):
        assert time.monotonic() < deadline
        answers.append(text_of(call(server, "1", fork=origin.name, timeout=0.1)))
    server.cancel(busy)
    assert origin.shown("1") == "1"


def test_a_network_of_listed_hosts_serves_a_copy_as_well(tmp_path):
    environment = {"type": "system", "isolation": "sandbox", "network": ["name.invalid:80"]}
    with client.Server(config={**CONFIG, "environments": {"held": environment}, "default_environment": "held"}) as server:
        server.initialize()
        answer = call(server, "pass", session="new")
        if answer.get("isError") and "own network" in text_of(answer):
            pytest.skip("this machine gives a run no network of its own")
        needs_copies(server)
        code = ("import urllib.request\ntry:\n    urllib.request.urlopen('http://name.example/', timeout=30)\n"
                "except OSError as error:\n    print(error)")
        copy = Session(server, code).fork(code)
        assert "403" in copy.result["stdout"], copy.result
