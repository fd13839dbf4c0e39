"""pyexecd-init, the first process of a container, in a PID namespace without a container around it:
what a program cannot do to it, what it leaves, what it says."""

import contextlib
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

import pytest
from leftovers import descendants, read, until

INIT = str(pathlib.Path(os.environ["PYEXECD"]).parent / "pyexecd-init")
HELLO = b"pyexecd wire 1\n"
HEAD = struct.Struct("<II")
OUT, ERRORS, BEGUN, NOT_BEGUN, CELL, ENDED, GO, CODE, CELLS, DISMISSAL = range(1, 11)
WORDS = struct.Struct("<iiIIQQQ")
OVERDUE, SURVIVORS = 1, 2
UNSHARE = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--pid", "--fork",
           "--kill-child", "--mount-proc"]


def namespaces_work():
    return subprocess.run([*UNSHARE, "true"], capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not namespaces_work(), reason="no user and PID namespaces here")


class Words:
    def __init__(self, body):
        (self.status, self.failure, self.leftovers, self.flags, run, cpu, self.peak) = WORDS.unpack(body)
        self.run, self.cpu = run / 1e6, cpu / 1e6
        self.returncode = os.waitstatus_to_exitcode(self.status)


def frames(wire):
    """The frames of WIRE: [(type, payload)]. See environments/engine/init_protocol.h."""
    assert wire.startswith(HELLO), wire
    found, rest = [], wire[len(HELLO):]
    while rest:
        kind, length = HEAD.unpack_from(rest)
        found.append((kind, rest[HEAD.size:HEAD.size + length]))
        assert len(found[-1][1]) == length, "the last one is whole"
        rest = rest[HEAD.size + length:]
    return found


class Ended:
    def __init__(self, code, wire, stderr=b""):
        self.code = code
        self.frames = frames(wire)
        assert [kind for kind, _ in self.frames].index(ENDED) == len(self.frames) - 1
        assert stderr == b"", "only the engine would say something there"
        self.stdout = b"".join(payload for kind, payload in self.frames if kind == OUT).decode()
        self.stderr = b"".join(payload for kind, payload in self.frames if kind == ERRORS).decode()
        self.words = Words(self.frames[-1][1])


def start(*arguments, inside=UNSHARE, **more):
    return subprocess.Popen([*inside, INIT, *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE,
                            **{"stdin": subprocess.DEVNULL, **more})


def run(code, seconds=60, **more):
    """Runs CODE as the program of an init that is pid 1."""
    with start(str(seconds), "--", sys.executable, "-c", code, **more) as process:
        stdout, stderr = process.communicate(timeout=120)
    return Ended(process.returncode, stdout, stderr)


@pytest.mark.parametrize("code, returncode, exit_code", [
    ("pass", 0, 0),
    ("import sys; sys.exit(7)", 7, 7),
    ("import os; os.abort()", -signal.SIGABRT, 128 + signal.SIGABRT),
    ("import os; os.kill(os.getpid(), 9)", -9, 137),
    ("import os; os._exit(255)", 255, 255),
])
def test_status_of_the_program_is_the_real_one(code, returncode, exit_code):
    ended = run(code)
    assert (ended.words.returncode, ended.code) == (returncode, exit_code)
    assert ended.words.failure == ended.words.leftovers == ended.words.flags == 0


def test_output_comes_before_the_last_words():
    ended = run("import sys; print('out'); print('err\\0err', file=sys.stderr)")
    assert (ended.stdout, ended.stderr) == ("out\n", "err\0err\n")


def test_usage_is_counted():
    ended = run("x = bytearray(80 << 20)\nimport time\nend = time.process_time() + 0.3\n"
                "while time.process_time() < end: pass")
    assert 0.3 <= ended.words.cpu < 20
    assert ended.words.cpu <= ended.words.run + 0.1
    assert 80 << 20 < ended.words.peak < 160 << 20


def test_an_init_that_has_nothing_to_look_at_sleeps():
    """Its program may write files of any size."""
    ended = run("import time\n"
                "def waits():\n"
                "    with open('/proc/1/status') as status:\n"
                "        return int(next(line for line in status if line.startswith('voluntary')).split()[1])\n"
                "before = waits()\ntime.sleep(2)\nprint(waits() - before)")
    assert int(ended.stdout) < 5


def test_program_is_pid_2_and_has_nothing_on_standard_input():
    assert run("import os, sys; print(os.getpid(), os.getsid(0), repr(sys.stdin.read()))"
               ).stdout == "2 2 ''\n"


def test_signals_and_descriptors_are_those_of_a_fresh_program():
    ended = run("import os, signal\n"
                "print(signal.pthread_sigmask(signal.SIG_BLOCK, []), os.listdir('/proc/self/fd'))")
    assert ended.stdout == "set() ['0', '1', '2', '3']\n"  # 3 is the listing's own


@pytest.mark.parametrize("name, failure, exit_code", [
    ("no-such-program", 2, 127), ("/etc/passwd", 13, 126), ("/", 13, 126),
])
def test_program_that_cannot_be_executed(name, failure, exit_code):
    with start("60", "--", name) as process:
        stdout, stderr = process.communicate(timeout=60)
    ended = Ended(process.returncode, stdout, stderr)
    assert (ended.words.failure, ended.code) == (failure, exit_code)
    assert ended.stderr == ""


@pytest.mark.parametrize("kind, count", [
    ("subprocess.Popen(['sleep', '100'])", 1),
    ("[subprocess.Popen(['sleep', '100'], start_new_session=True) for _ in range(20)]", 20),
    ("os.fork() or (os.setsid(), os.fork() and os._exit(0), time.sleep(100))\nos.wait()", 1),
    ("os.fork() or (signal.pthread_sigmask(0, range(1, 65)), os.kill(os.getpid(), 19))", 1),
], ids=["child", "sessions", "daemon", "stopped"])
def test_nothing_outlives_the_program(kind, count):
    ended = run(f"import os, signal, subprocess, time\n{kind}\ntime.sleep(0.2)\nos._exit(3)")
    assert ended.words.leftovers == count
    assert ended.words.returncode == 3 and not ended.words.flags


def test_processes_that_never_stand_still_are_ended_too():
    ended = run("import os, time\n"
                "for _ in range(30):\n"
                "    if os.fork() == 0:\n"
                "        while True:\n"
                "            os.fork() and os._exit(0)\n"
                "time.sleep(0.5)")
    assert ended.words.returncode == 0 and not ended.words.flags
    assert ended.words.leftovers >= 1


def test_it_ends_by_itself_at_its_deadline():
    began = time.monotonic()
    ended = run("import time; print('early', flush=True); time.sleep(60)", seconds=5)
    assert 5 <= time.monotonic() - began < 40
    assert ended.words.flags == OVERDUE and ended.words.returncode == -9
    assert ended.stdout == "early\n"


@pytest.mark.parametrize("number", ["SIGKILL", "SIGSTOP", "SIGTERM", "SIGALRM", "SIGCHLD"])
def test_program_cannot_signal_pid_1(number):
    ended = run(f"import os, signal, time; os.kill(1, signal.{number}); time.sleep(0.1); print('on')")
    assert ended.stdout == "on\n" and ended.words.returncode == 0


def test_the_wire_cannot_be_reached():
    ended = run("import ctypes, os\n"
                "for name in ('environ', 'mem', 'maps', 'fd/0', 'fd/1', 'fd/2'):\n"
                "    try:\n"
                "        open('/proc/1/' + name, 'rb').read(1)\n"
                "        print(name)\n"
                "    except PermissionError:\n"
                "        pass\n"
                "libc = ctypes.CDLL(None)\n"
                "print(libc.ptrace(16, 1, 0, 0))\n"
                "print([libc.syscall(438, libc.syscall(434, 1, 0), fd, 0) for fd in range(5)])")  # pidfd_getfd(2)
    assert ended.stdout == "-1\n[-1, -1, -1, -1, -1]\n"


@pytest.mark.parametrize("stream", [1, 2])
@pytest.mark.parametrize("forged", [
    HELLO + HEAD.pack(ENDED, WORDS.size) + WORDS.pack(0, 0, 0, 0, 1, 1, 1),
    HEAD.pack(ENDED, WORDS.size) + WORDS.pack(0, 0, 0, 0, 1, 1, 1),
    HEAD.pack(OUT, 1 << 30),
    b"\0" * 200,
])
def test_forged_frames_stay_output(forged, stream):
    ended = run(f"import os; os.write({stream}, {forged!r}); os._exit(4)")
    assert ended.frames[0] == (stream, forged)
    assert ended.words.returncode == 4


@pytest.mark.parametrize("deed", [
    "os.close(2)",
    "os.close(1)",
    "os.set_blocking(2, False)",
    "fcntl.fcntl(2, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK); fcntl.fcntl(2, fcntl.F_SETOWN, 1)",
    "fcntl.fcntl(2, 1031, 4096)",
    "os.dup2(os.open('/dev/null', os.O_WRONLY), 2)",
])
def test_words_come_whatever_is_done_to_stderr(deed):
    assert run(f"import fcntl, os\n{deed}\nos._exit(5)").words.returncode == 5


FLOOD = "import os\nfor _ in range(2000):\n    os.write({stream}, b'x' * 1024)\nos._exit(6)"


@pytest.mark.parametrize("stream", [1, 2])
def test_a_reader_that_is_slow_gets_all(stream):
    with start("30", "--", sys.executable, "-c", FLOOD.format(stream=stream)) as process:
        time.sleep(0.5)
        ended = Ended(process.returncode, *process.communicate(timeout=60))
    assert ended.words.returncode == 6
    assert ended.stdout + ended.stderr == "x" * 2000 * 1024


def test_both_streams_are_read_while_one_floods():
    ended = run("import os, subprocess\n"
                "flood = subprocess.Popen(['sh', '-c', 'head -c 3000000 /dev/zero'])\n"
                "for _ in range(3000): os.write(2, b'y' * 1000)\n"
                "flood.wait(); os._exit(6)")
    assert (len(ended.stdout), len(ended.stderr)) == (3000000, 3000000)


def test_what_is_printed_last_comes_though_its_reader_was_slow():
    ended = run("import os\nos.write(1, b'o' * 60000)\nos.write(2, b'e' * 60000)\nos.kill(os.getpid(), 9)")
    assert (ended.stdout, ended.stderr) == ("o" * 60000, "e" * 60000)


def test_a_reader_that_does_not_read_does_not_hold_it():
    code = "import os\nos.write(1, b'go')\nwhile True: os.write(2, b'x' * 4096)"
    with start("5", "--", sys.executable, "-c", code) as process:
        assert process.wait(timeout=60) == 137


def test_a_program_without_a_reader_gets_to_know_it():
    with start("60", "--", sys.executable, "-c", FLOOD.format(stream=1)) as process:
        process.stdout.read(len(HELLO))
        process.stdout.close()
        assert process.wait(timeout=50) in (1, 120, 141), "it cannot write any more"


@pytest.mark.parametrize("limit", ["RLIMIT_NOFILE", "RLIMIT_SIGPENDING", "RLIMIT_FSIZE", "RLIMIT_STACK",
                                   "RLIMIT_AS", "RLIMIT_NPROC"])
def test_limits_that_the_program_sets_for_it_end_it_in_order(limit):
    ended = run("import os, resource, subprocess, time\n"
                f"resource.prlimit(1, resource.{limit}, (0, 0))\n"
                "subprocess.run(['sh', '-c', 'sleep 0.1 &'])\ntime.sleep(3)\nos._exit(8)")
    if limit == "RLIMIT_NOFILE":
        assert ended.words.returncode == -9 and ended.words.flags == OVERDUE
    else:
        assert ended.words.returncode == 8


def test_end_of_the_lifeline_ends_everything():
    with start("100", "--", "sleep", "200", stdin=subprocess.PIPE) as process:
        assert until(lambda: len(descendants(process.pid)) == 2)
        process.stdin.write(HEAD.pack(CELLS, 7) + b"ignored")
        process.stdin.flush()
        time.sleep(0.2)
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(timeout=60) == 137


INTERRUPTED = """
import os, time
try:
    os.write(1, b'on\\n')
    time.sleep(60)
except KeyboardInterrupt:
    print('flushed', flush=True)
    raise
"""


def interrupt_when_it_runs(process, pid):
    """Sends SIGINT to the init PID from outside, once the script of PROCESS has printed."""
    begin = HELLO + HEAD.pack(OUT, 3) + b"on\n"
    assert process.stdout.read(len(begin)) == begin
    os.kill(pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    return Ended(process.returncode, begin + stdout, stderr)


def test_an_interruption_from_outside_goes_to_the_program():
    with start("60", "--", sys.executable, "-c", INTERRUPTED) as process:
        init = until(lambda: descendants(process.pid))[0]
        ended = interrupt_when_it_runs(process, init)
    assert ended.stdout == "on\nflushed\n" and "KeyboardInterrupt" in ended.stderr
    assert ended.words.returncode == -signal.SIGINT and not ended.words.flags


LOOKS_FOR_A_CELL = """
import os, select, signal
def look(*_):
    print(select.select([0], [], [], 0)[0], flush=True)
    os._exit(0)
signal.signal(signal.SIGINT, look)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
print("on", flush=True)
while True:
    signal.pause()
"""


def test_an_interruption_of_a_session_comes_behind_its_cell():
    with start("--session", "60", "--", sys.executable, "-c", LOOKS_FOR_A_CELL, stdin=subprocess.PIPE) as process:
        stdout = process.stdout.read(len(HELLO) + HEAD.size + len("on\n"))
        init, = (pid for pid in descendants(process.pid) if read(f"/proc/{pid}/comm") == b"pyexecd-init\n")
        program, = descendants(init)
        for pid in (init, program):
            os.sched_setaffinity(pid, [min(os.sched_getaffinity(0))])
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(program, os.SCHED_FIFO, os.sched_param(1))  # it goes first when it can
        os.kill(init, signal.SIGSTOP)  # both are there when it looks
        process.stdin.write(HEAD.pack(CELLS, 3) + b"1\nx" + HEAD.pack(DISMISSAL, 0))
        process.stdin.flush()
        os.kill(init, signal.SIGINT)
        os.kill(init, signal.SIGCONT)
        stdout += process.stdout.read()
    ended = Ended(process.returncode, stdout)
    assert ended.stdout == "on\n[0]\n" and ended.words.returncode == 0


def test_a_program_cannot_interrupt_itself_by_its_init():
    assert run("import os, signal, time; os.kill(1, signal.SIGINT); time.sleep(0.3); print('on')"
               ).stdout == "on\n"


FORGED = """
import ctypes, os, struct, time
info = ctypes.create_string_buffer(struct.pack("iiiiii", {number}, 0, -1, 0, 0, 0), 128)
print(ctypes.CDLL(None).syscall(129, 1, {number}, info)) # rt_sigqueueinfo(2), as if from outside
time.sleep(0.3)
print("on")
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the system call has another number here")
@pytest.mark.parametrize("number", [int(signal.SIGINT), int(signal.SIGTERM)])
def test_a_program_cannot_pretend_to_be_outside(number):
    ended = run(FORGED.format(number=number))
    assert ended.stdout == "0\non\n" and not ended.words.flags


@pytest.mark.parametrize("arguments", [[], ["5"], ["5", "--"], ["5", "sleep", "1"]])
def test_it_is_not_for_people(arguments):
    with start(*arguments) as process:
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (64, b"")
    assert stderr == b"pyexecd-init is started by pyexecd\n"


def test_it_kills_nothing_where_pid_1_is_somebody_else():
    shell = [*UNSHARE, "sh", "-c", 'sleep 5 & "$@"; echo $?; kill $!', "sh"]
    with start("5", "--", "true", inside=shell) as process:
        stdout, stderr = process.communicate(timeout=60)
    assert stdout == b"64\n" and b"started by pyexecd" in stderr


# A kept container.

def is_init(pid):
    return read(f"/proc/{pid}/cmdline").startswith(INIT.encode() + b"\0")


@contextlib.contextmanager
def kept(seconds=60, **more):
    """An init that keeps its namespace: (process, its pid as this side sees it)."""
    with start("--keep", str(seconds), **more) as process:
        try:
            yield process, until(lambda: next(filter(is_init, descendants(process.pid)), None))
        finally:
            process.kill()


def enter(pid):
    return ["nsenter", "--target", str(pid), "--user", "--preserve-credentials", "--pid", "--mount"]


def run_in(pid, code, seconds=60):
    return run(code, seconds, inside=enter(pid))


root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root may enter a namespace here")


def test_a_kept_namespace_ends_at_its_deadline():
    began = time.monotonic()
    with kept(1) as (process, _):
        assert process.wait(timeout=60) == 0
    assert 1 <= time.monotonic() - began < 40


def test_a_kept_namespace_ends_with_its_lifeline():
    with kept(stdin=subprocess.PIPE) as (process, _):
        process.stdin.close()
        assert process.wait(timeout=50) == 0


@root_only
def test_runs_in_a_kept_namespace_leave_nothing_and_keep_it():
    with kept() as (process, pid):
        for number in range(3):
            ended = run_in(pid, "import os, subprocess, sys\n"
                                "subprocess.Popen(['sleep', '100'], start_new_session=True)\n"
                                f"os._exit({number})")
            assert (ended.words.returncode, ended.words.leftovers) == (number, 1)
            assert until(lambda: descendants(pid) == [])
        assert process.poll() is None


@root_only
def test_an_interruption_of_a_kept_namespace_goes_to_the_program_of_a_run():
    with kept() as (keeper, pid):
        with start("60", "--", sys.executable, "-c", INTERRUPTED, inside=enter(pid)) as process:
            ended = interrupt_when_it_runs(process, pid)
        assert ended.stdout == "on\nflushed\n" and "KeyboardInterrupt" in ended.stderr
        assert ended.words.returncode == -signal.SIGINT and not ended.words.leftovers
        assert keeper.poll() is None
        assert run_in(pid, "print('again')").stdout == "again\n"


@root_only
def test_zombies_of_others_are_reaped_in_a_kept_namespace():
    with kept() as (_, pid):
        run_in(pid, "import os\nif os.fork() == 0:\n    os.fork() and os._exit(0)\n"
                    "    os.execvp('sleep', ['sleep', '0.1'])")
        assert until(lambda: descendants(pid) == [])


@root_only
def test_a_run_that_kills_its_init_gets_no_words():
    with kept() as (_, pid):
        with start("5", "--", sys.executable, "-c", "import os; os.kill(os.getppid(), 9)",
                   inside=enter(pid)) as process:
            wire, _ = process.communicate(timeout=60)
    assert process.returncode == -9 and frames(wire) == []


# One that was started ahead of its script.

@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text("")
    return path


def go_for(path, size=None):
    """What environments/engine/init_protocol.h describes."""
    found = path.stat()
    return HEAD.pack(GO, 24) + struct.pack("<QQQ", found.st_dev, found.st_ino, found.st_size if size is None else size)


def with_code(code, size=None):
    """The same for an init on another machine."""
    return (HEAD.pack(GO, 24) + struct.pack("<QQQ", 0, 0, len(code) if size is None else size)
            + HEAD.pack(CODE, len(code)) + code)


def start_ahead(script, *options, idle=60, **variables):
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LD_"))}
    return subprocess.Popen(
        [*UNSHARE, INIT, "--script", "--ahead", str(idle), *options, "60", "--", "python3", str(script)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**plain, "PATH": "/usr/bin:/bin", "HOME": str(script.parent), **variables})


def tell(process, message):
    process.stdin.write(message)
    process.stdin.flush()


def told(process, go):
    """The frames that have come once PROCESS has been told GO, and dismissed behind its last words."""
    tell(process, go)
    wire = b""
    while piece := process.stdout.read1():
        wire += piece
        if HEAD.pack(ENDED, WORDS.size) in wire:
            assert process.poll() is None, "it waits until they have come"
            tell(process, HEAD.pack(DISMISSAL, 0))
    process.wait(timeout=60)
    assert process.stderr.read() == b""
    return frames(wire)


NOTHING_HAS_RUN = [(NOT_BEGUN, b"")]


gated = pytest.mark.parametrize("options", [[], ["--gate"]], ids=["init", "python"])


@gated
def test_what_waits_runs_the_script_that_it_is_told(script, options):
    with start_ahead(script, *options) as process:
        script.write_text("import sys; print('out'); print('err', file=sys.stderr)")
        found = told(process, go_for(script))
    assert found[0] == (BEGUN, b"") and sorted(found[1:3]) == [(OUT, b"out\n"), (ERRORS, b"err\n")]
    assert found[3][0] == ENDED and Words(found[3][1]).returncode == process.returncode == 0 and not found[4:]


@gated
@pytest.mark.parametrize("replaced, size", [(True, None), (False, 7)])
def test_what_waits_runs_no_other_file(script, options, replaced, size):
    with start_ahead(script, *options) as process:
        go = go_for(script, size)
        if replaced:
            script.with_name("other").write_text("")
            script.with_name("other").rename(script)
        assert told(process, go) == NOTHING_HAS_RUN


@gated
def test_what_waits_ends_with_its_lifeline(script, options):
    script.write_text("print('on')")
    for go in (b"", go_for(script)[:-1], b"x" * HEAD.size):
        with start_ahead(script, *options) as process:
            wire, _ = process.communicate(go, timeout=60)
        assert frames(wire) == NOTHING_HAS_RUN


@gated
def test_a_script_ends_with_its_lifeline(script, options):
    with start_ahead(script, *options) as process:
        script.write_text("import time; print('on', flush=True); time.sleep(600)")
        tell(process, go_for(script))
        begin = HELLO + HEAD.pack(BEGUN, 0) + HEAD.pack(OUT, 3) + b"on\n"
        assert process.stdout.read(len(begin)) == begin
        wire, _ = process.communicate(timeout=60)
    assert Words(frames(begin + wire)[-1][1]).flags == OVERDUE


@gated
def test_what_is_dismissed_runs_no_script(script, options):
    with start_ahead(script, *options) as process:
        assert told(process, HEAD.pack(DISMISSAL, 0) + go_for(script)) == NOTHING_HAS_RUN


@gated
@pytest.mark.parametrize("code, size", [(b"print(7)", None), (b"print(6)", 7), (b"print(6)", None)],
                         ids=["other", "more", "not laid over"])
def test_what_waits_runs_no_other_code(script, options, code, size):
    with start_ahead(script, *options) as process:
        script.write_text("print(6)")
        assert told(process, with_code(code, size)) == NOTHING_HAS_RUN


@gated
def test_what_waits_ends_after_a_while(script, options):
    with start_ahead(script, *options, idle=1) as process:
        assert process.wait(timeout=60) == 0
        assert frames(process.stdout.read()) == NOTHING_HAS_RUN


def test_a_python_that_scripts_could_have_changed_does_not_start_ahead(script):
    planted = script.with_name("sitecustomize.py")
    planted.write_text("print('planted')")
    for variables in ({"PYTHONPATH": str(script.parent)}, {"PYTHONHOME": "/usr"}, {"LD_PRELOAD": ""},
                      {"PATH": f"{script.parent}:/usr/bin:/bin"}, {"PATH": ":/usr/bin:/bin"}):
        with start_ahead(script, "--gate", **variables) as process:
            init = until(lambda: next(filter(is_init, descendants(process.pid)), None))
            time.sleep(0.2)  # in which it would
            assert list(descendants(init)) == [], variables
            process.stdin.close()


def test_a_user_site_that_came_while_python_waited_is_not_missed(script):
    with start_ahead(script, "--gate") as process:
        assert until(lambda: [pid for pid in descendants(process.pid) if b"python3\0" in read(f"/proc/{pid}/cmdline")[:9]])
        script.with_name(".local").mkdir()
        assert told(process, go_for(script)) == NOTHING_HAS_RUN, "somebody else starts it"
