"""Calls that run in a copy of a Python that has started before them (environments/process/nursery.h)."""

import contextlib
import hashlib
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv

import pytest
from client import with_more_time
from leftovers import (Watched, alive, began, descendants, is_zygote, read, until, until_made, until_one_waits,
                       waiting, waits_for_code)

SYSTEM = {"type": "system", "isolation": "sandbox"}
MIB = 2 ** 20


@contextlib.contextmanager
def serving(system=(), command=None, **settings):
    config = {"environments": {"system": {**SYSTEM, **dict(system)}}, **settings}
    with Watched(command=command, config=config) as server:
        server.initialize()
        yield server


@pytest.fixture
def server():
    with serving() as server:
        # If the first copy of a zygote is late, there is no other one for a second or more.
        assert until(lambda: copy(server) and ours(server, is_zygote), 100)
        yield server


def call(server, code, **arguments):
    return server.call_tool("run_python", {"code": code, **arguments})["structuredContent"]


def ours(server, is_such):
    return [pid for pid in descendants(server.process.pid) if is_such(pid)]


def copy(server, code="pass"):
    """What a call gives that is a copy; another one waits when it is over."""
    if not waiting(server):
        call(server, "pass")
    assert until_one_waits(server, lambda: call(server, "pass"))
    structured = call(server, code)
    assert structured["timings"]["warm"], structured
    assert until_one_waits(server, lambda: call(server, "pass"))
    return structured


def has_another_zygote(server, old):
    return until_made(lambda: ours(server, is_zygote) not in ([], [old]), lambda: call(server, "pass"))


def test_there_is_one_zygote_for_the_calls_of_a_caller(server):
    (zygote,) = ours(server, is_zygote)
    for number in range(5):
        assert copy(server, f"print({number})")["stdout"] == f"{number}\n"
    assert ours(server, is_zygote) == [zygote]


def test_each_caller_has_its_own():
    """Who shares a seed of `hash()` can guess what others have in memory."""
    with Watched(transport="unix", config={"environments": {"system": SYSTEM}}) as server:
        server.initialize()
        other = server.connect()
        other.initialize()
        seeds = []
        for caller in (server, other):
            call(caller, "pass")
        assert until(lambda: len(ours(server, is_zygote)) == 2 and len(ours(server, waits_for_code)) >= 2)
        seeds = [call(caller, "print(hash('a'))")["stdout"] for caller in (server, other)]
        assert seeds[0] != seeds[1]
        other.close()
        assert until(lambda: len(ours(server, is_zygote)) == 1)


def test_each_principal_has_its_own_where_all_have_one_directory(tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("".join(f"{name} sha256:{hashlib.sha256(name.encode() * 4).hexdigest()}\n" for name in ("alice", "bob")))
    tokens.chmod(0o600)
    (tmp_path / "work").mkdir()
    config = {"environments": {"system": SYSTEM}, "working_directory": str(tmp_path / "work"), "token_file": str(tokens)}
    with Watched(transport="tcp", config=config) as server:
        callers = []
        for name in ("alice", "bob"):
            server.token = name * 4
            callers.append(server.connect())
            callers[-1].initialize()
            call(callers[-1], "pass")
        for _ in range(12):  # a copy that misses its two seconds is made again for a later call
            if until(lambda: len(ours(server, is_zygote)) == 2 and len(ours(server, waits_for_code)) >= 2, 10):
                break
            for caller in callers:
                call(caller, "pass")
        seeds = [call(caller, "print(hash('a'))") for caller in callers]
        assert all(seed["timings"]["warm"] for seed in seeds)
        assert seeds[0]["stdout"] != seeds[1]["stdout"]


LEAVE = """
import builtins, json, os, sys
sys.left = json.left = os.left = builtins.left = 1
os.environ['LEFT'] = '1'
os.chdir('/')
for place in ('/tmp', '/dev/shm'):
    open(place + '/left', 'w').close()
os.umask(0)
"""
FIND = """
import builtins, json, os, sys
print([hasattr(each, 'left') for each in (sys, json, os, builtins)], 'LEFT' in os.environ,
      'left' in os.listdir('/tmp'), os.listdir('/dev/shm'), os.getcwd() == os.path.dirname(__file__), os.umask(0) == 0)
"""


def test_a_call_finds_nothing_of_the_one_before(server):
    assert call(server, LEAVE)["success"]
    assert copy(server, FIND)["stdout"] == "[False, False, False, False] False False [] True False\n"


def test_calls_at_once_are_out_of_each_others_reach(server):
    meet = "import os, time\nopen('{}', 'w')\nwhile not os.path.exists('{}'): time.sleep(0.01)\n"
    listen = "import socket\nlistener = socket.create_server(('127.0.0.1', 8765))\n"
    kill = "try: os.kill(-1, 15)\nexcept ProcessLookupError: print('nobody')\n"
    tell = "print(os.getpid(), [name for name in os.listdir('/proc') if name.isdigit()])\nopen('{}', 'w')\n"
    codes = [listen + meet.format(a, b) + kill + tell.format(c) + meet.format(c, d) for a, b, c, d in ("abcd", "badc")]
    ids = [server.start_tool("run_python", {"code": code}) for code in codes]
    results = [server.wait(each)["result"]["structuredContent"] for each in ids]
    assert [each["stdout"] for each in results] == ["nobody\n2 ['1', '2']\n"] * 2, [each["stderr"] for each in results]
    assert all(each["timings"]["warm"] for each in results)


WHICH = """
import socket, sys
SO_NETNS_COOKIE = 71  # since Linux 5.14
with socket.socket() as own:
    network = int.from_bytes(own.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8), sys.byteorder)
"""
SEND = """
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    sender.sendto(b'to nobody', ('127.0.0.1', 9))
"""
GIVE = """
import os, time
with socket.socket(socket.AF_UNIX) as giver, socket.create_server(('127.0.0.1', 8765)) as listener:
    while not os.path.exists('listens'): time.sleep(0.01)
    giver.connect('place')
    socket.send_fds(giver, [b'one'], [listener.fileno()])
    giver.recv(1)
"""
HOLD = """
import os, time
with socket.socket(socket.AF_UNIX) as place:
    place.bind('place')
    place.listen()
    open('listens', 'w').close()
    given, _ = place.accept()
    kept = socket.recv_fds(given, 3, 1)
    given.send(b'1')
    while not os.path.exists('enough'): time.sleep(0.01)
"""
REACH = """
try:
    socket.create_connection(('127.0.0.1', 8765))
    print('reached')
except ConnectionRefusedError:
    pass
"""


def network_of(server, code=""):
    """Each has a number that no other one ever has."""
    structured = copy(server, f"{WHICH}{code}\nprint(network)")
    if "Protocol not available" in structured["stderr"]:
        pytest.skip("this kernel does not number its networks")
    return structured["stdout"]


def test_a_network_that_no_call_has_used_serves_the_next(server):
    assert len({network_of(server) for _ in range(8)}) < 8


def test_a_network_in_which_a_packet_was_sent_is_nobody_elses(server):
    used = [network_of(server, SEND) for _ in range(3)]
    assert len(set(used)) == 3
    assert not {network_of(server) for _ in range(12)} & set(used)


LABEL = """
import errno, struct
IPV6_FLOWLABEL_MGR = 32
with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as own:
    request = socket.inet_pton(socket.AF_INET6, '::1') + struct.pack('!IBBHHHI', 0x12345, 0, 1, 1, 60, 60, 0)
    try:
        own.setsockopt(socket.IPPROTO_IPV6, IPV6_FLOWLABEL_MGR, request)
    except OSError as error:
        print(errno.errorcode[error.errno])
    own.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
    own.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, bytes(4))
"""
CHANGE = """
import os
changed = []
for folder, _, names in os.walk('/proc/sys/net'):
    for path in (os.path.join(folder, name) for name in names):
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError:
            continue
        changed.append(path)
print(os.path.exists('/proc/sys/net/ipv4/ip_forward'), changed)
"""


def test_nobody_can_leave_anything_in_a_network(server):
    labelled = copy(server, WHICH + LABEL)
    assert labelled["stdout"] == "ENOPROTOOPT\n" or "Address family not supported" in labelled["stderr"], labelled
    assert copy(server, CHANGE)["stdout"] == "True []\n"


def test_a_network_of_which_another_call_holds_a_socket_is_nobody_elses(server):
    network_of(server)
    holder, giver = (server.start_tool("run_python", {"code": WHICH + code + "print(network)"}) for code in (HOLD, GIVE))
    gave = server.wait(giver)["result"]["structuredContent"]
    assert gave["success"] and gave["timings"]["warm"], gave
    assert gave["stdout"] not in {network_of(server) for _ in range(12)}
    assert copy(server, WHICH + REACH)["stdout"] == ""
    call(server, "open('enough', 'w')")
    held = server.wait(holder)["result"]["structuredContent"]
    assert held["success"], held["stderr"]


def four_wait(server, mark):
    """Whether four Pythons wait after as many calls at a time. One that is not ready within two seconds is ended."""
    folder = pathlib.Path(copy(server)["script"]).parent
    code = f"import os, time\nopen('{mark}-%d', 'w').close()\nwhile not os.path.exists('go-{mark}'): time.sleep(0.01)"
    calls = [server.start_tool("run_python", {"code": code % number}) for number in range(8)]
    assert until(lambda: len(list(folder.glob(f"{mark}-*"))) == 4)  # none of them has ended, and left a copy to another
    (folder / f"go-{mark}").touch()
    for each in calls:
        assert server.wait(each)["result"]["structuredContent"]["success"]
    return until(lambda: len(waiting(server)) == 4, 20)


def test_as_many_wait_as_calls_have_come_too_early_and_a_few_at_most(server):
    """The next call finds none where calls follow one another faster than copies are made."""
    assert any(four_wait(server, mark) for mark in ("one", "two", "three"))
    assert not until(lambda: len(waiting(server)) > 4, 1)


def test_a_zygote_that_is_killed_ends_no_call_and_is_replaced(server):
    (zygote,) = ours(server, is_zygote)
    running = server.start_tool("run_python", {"code": "import time; print('on', flush=True); time.sleep(1); print('end')"})
    os.kill(zygote, signal.SIGKILL)
    assert call(server, "print(1)")["stdout"] == "1\n"
    assert server.wait(running)["result"]["structuredContent"]["stdout"] == "on\nend\n"
    assert [call(server, f"print({number})")["stdout"] for number in range(3)] == ["0\n", "1\n", "2\n"]
    assert has_another_zygote(server, zygote)


def test_a_zygote_that_does_not_answer_ends_no_call_and_is_replaced(server):
    (zygote,) = ours(server, is_zygote)
    os.kill(zygote, signal.SIGSTOP)
    assert [call(server, f"print({number})")["stdout"] for number in range(3)] == ["0\n", "1\n", "2\n"]
    assert has_another_zygote(server, zygote)
    copy(server)


def test_a_nursery_that_is_killed_is_replaced(server):
    (zygote,) = ours(server, is_zygote)
    runners = [pid for pid in descendants(server.process.pid) if read(f"/proc/{pid}/cmdline").startswith(b"pyexecd-runner")]
    older = sorted((pid for pid in runners if began(pid) <= began(zygote)), key=began)
    while os.path.exists(f"/proc/{zygote}"):  # it was made right behind its nursery; what else is killed costs nothing
        os.kill(older.pop(), signal.SIGKILL)
        until(lambda: not os.path.exists(f"/proc/{zygote}"), 5)
    assert [call(server, f"print({number})")["stdout"] for number in range(3)] == ["0\n", "1\n", "2\n"]
    assert has_another_zygote(server, zygote)


@pytest.mark.skipif(os.geteuid() == 0, reason="of root's processes the script's uid is the owner all the same")
def test_a_copy_cannot_look_into_its_supervisor(server):
    assert "PermissionError" in call(server, "import os; os.listdir('/proc/1/fd')")["stderr"]


@pytest.mark.parametrize("code, told", [
    ("bytearray(300 << 20)", "out_of_memory"),
    ("import os\nopen('large', 'wb').write(b'x' * (20 << 20))", "File too large"),
    ("import threading, time\nfor _ in range(64): threading.Thread(target=time.sleep, args=(5,)).start()", "new thread"),
])
def test_a_copy_has_the_limits_of_a_run(code, told):
    limits = {"memory": "128 MiB", "disk": "10 MiB", "processes": 20}
    with serving(limits=limits) as server:
        structured = copy(server, "pass") and call(server, code)
        assert structured["timings"]["warm"] and not structured["success"]
        assert told in structured["stderr"] or structured.get(told) or "MemoryError" in structured["stderr"], structured
        assert call(server, "print(1)")["stdout"] == "1\n"


def test_a_copy_that_waits_holds_little_memory(server):
    for pid in waiting(server):
        dirty = [int(line.split()[1]) * 1024 for line in read(f"/proc/{pid}/smaps_rollup").splitlines()
                 if line.startswith(b"Private_Dirty")]
        assert sum(dirty) < 2 * MIB


def test_what_is_no_python_is_no_zygote(tmp_path):
    """A wrapper leads to a Python; one that the core does not know would run the script of the zygote."""
    wrapper = tmp_path / "python"
    wrapper.write_text("#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n")
    wrapper.chmod(0o755)
    with serving({"executable": str(wrapper)}) as server:
        assert [call(server, f"print({number})")["stdout"] for number in range(4)] == [f"{n}\n" for n in range(4)]


def test_a_free_threaded_python_is_no_zygote(tmp_path):
    """It is started ahead of its call all the same."""
    venv.create(tmp_path / "venv")
    (packages,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (packages / "free.pth").write_text("import sys; sys.abiflags += 't'\n")
    environment = {"type": "venv", "venv_path": str(tmp_path / "venv"), "isolation": "sandbox"}
    with Watched("--log-level", "debug", config={"environments": {"venv": environment}}) as server:
        server.initialize()
        call(server, "pass")
        assert until(lambda: "no zygote: its Python is free-threaded" in server.stderr())
        assert until_one_waits(server, lambda: call(server, "pass"))
        assert call(server, "print(1)")["timings"]["warm"]
        assert not ours(server, is_zygote)


LIMITED = pathlib.Path(__file__).with_name("limited.py")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the system call filter knows x86-64 alone")
@pytest.mark.parametrize("denied", ["clone3=ENOSYS", "close_range=ENOSYS", "setsockopt=EPERM", "CLONE_NEWNET=EPERM"])
def test_where_the_kernel_gives_less(denied):
    """Calls are served all the same, and what copies have of their zygote is closed."""
    command = [sys.executable, str(LIMITED), denied, "--", os.environ["PYEXECD"]]
    with serving(command=command) as server:
        for number in range(4):
            structured = call(server, "import os; print(len(os.listdir('/proc/self/fd')))")
            assert structured["stdout"] == "4\n", structured
            until(lambda: ours(server, waits_for_code), 1)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the system call filter knows x86-64 alone")
@pytest.mark.skipif(os.geteuid() == 0, reason="root needs setns for a uid of its own, and without has no zygote")
def test_a_zygote_that_cannot_enter_networks_keeps_none_and_goes_on():
    with serving(command=[sys.executable, str(LIMITED), "setns=EPERM", "--", os.environ["PYEXECD"]]) as server:
        copy(server)
        (zygote,) = ours(server, is_zygote)
        assert len({network_of(server) for _ in range(4)}) == 4
        assert ours(server, is_zygote) == [zygote]


def test_a_zygote_that_is_out_of_date_is_replaced(tmp_path):
    """What is installed later is found by the next call."""
    venv.create(tmp_path / "venv")
    (packages,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    with serving({"type": "venv", "venv_path": str(tmp_path / "venv")}) as server:
        copy(server)
        (old,) = ours(server, is_zygote)
        (packages / "mine.py").write_text("name = 'mine'\n")
        for _ in range(3):
            assert call(server, "import mine; print(mine.name)")["stdout"] == "mine\n"
        assert has_another_zygote(server, old)
        assert copy(server, "import mine; print(mine.name)")["stdout"] == "mine\n"


def with_module(tmp_path, code):
    """An environment whose Python executes CODE, of a package, before any script."""
    venv.create(tmp_path / "venv")
    (packages,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (packages / "early.py").write_text(code)
    (packages / "early.pth").write_text("import early\n")
    return {"type": "venv", "venv_path": str(tmp_path / "venv")}


DRAW = """
import os, ssl, tempfile
def draw():
    return ssl.RAND_bytes(8), next(tempfile._get_candidate_names())
draw()
"""


def test_copies_draw_other_random_numbers(tmp_path):
    """OpenSSL notices a copy by its process id."""
    with serving(with_module(tmp_path, DRAW)) as server:
        drawn = {copy(server, "import early, os\nprint(early.draw())")["stdout"] for _ in range(2)}
        child = "import early, os\nif os.fork() == 0:\n    print(early.draw())\nelse:\n    os.wait()"
        drawn |= {copy(server, child)["stdout"] for _ in range(2)}
        assert len(drawn) == 4


def test_no_calls_share_memory_that_a_package_shares_when_python_starts(tmp_path):
    code = "import mmap\nmemory = mmap.mmap(-1, 4096)\n"
    with serving(with_module(tmp_path, code)) as server:
        for _ in range(4):
            assert call(server, "import early\nprint(early.memory[0])\nearly.memory[0] = 1")["stdout"] == "0\n"
            time.sleep(0.5)


LARGE = "large = bytearray(b'x') * (40 << 20)\n"


def need_keeper(server):
    """A call has a keeper, the process 3 of its tree."""
    assert copy(server, "print(*open('/proc/1/task/1/children').read().split()[1:])")["stdout"] == "3\n"


def test_the_keeper_of_a_large_copy_is_told_of_nowhere_and_counts_nowhere(tmp_path):
    with serving(with_module(tmp_path, LARGE), limits={"processes": 5}) as server:
        need_keeper(server)
        fork = "import os, time\ntry:\n    while True:\n        if os.fork() == 0: time.sleep(60)\n        print('made')\n" \
               "except OSError: os.kill(-1, 9)"
        assert copy(server, fork)["stdout"] == "made\n" * 4
        for code in ("pass", "import os; os.kill(3, 9)", "import os, sys; os.execv(sys.executable, ['python', '-c', ''])"):
            answer = server.call_tool("run_python", {"code": code})
            assert answer["structuredContent"]["success"] and "still ran" not in str(answer), answer


HIJACK = """
import ctypes, mmap, os, struct
with open('count', 'w+b') as file:
    file.truncate(4096)
    shown = mmap.mmap(file.fileno(), 4096)
count = ctypes.addressof(ctypes.c_char.from_buffer(shown))
library = ctypes.CDLL(None)
start = ctypes.cast(library.syscall, ctypes.c_void_p).value
call = start + ctypes.string_at(start, 64).index(b'\\x0f\\x05')
assert library.mprotect(ctypes.c_void_p(call & -4096), 8192, 7) == 0
os.kill(3, 19)
while open('/proc/3/stat').read().split()[2] != 'T': pass
# fork(), and then both count.
code = b'\\x48\\xbf' + struct.pack('<Q', count) + bytes.fromhex('b8390000000f0548ff07ebfb')
ctypes.memmove(call, code, len(code))
os.kill(3, 18)
while not (shown[0] and open('/proc/3/task/3/children').read()): pass
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="its code is of x86-64")
def test_nothing_that_a_script_makes_of_its_keeper_goes_on_after_the_answer(tmp_path):
    (tmp_path / "work").mkdir()
    with serving(with_module(tmp_path, LARGE), working_directory=str(tmp_path / "work")) as server:
        need_keeper(server)
        for _ in range(12):
            copy(server)
            answer = server.call_tool("run_python", {"code": HIJACK})
            counted = (tmp_path / "work/count").read_bytes()
            assert answer["structuredContent"]["success"] and any(counted), answer
            assert "1 process of it still ran" in str(answer)
            copy(server)
            assert (tmp_path / "work/count").read_bytes() == counted


def test_a_zygote_goes_with_its_server():
    server = Watched(config={"environments": {"system": SYSTEM}})
    try:
        server.initialize()
        copy(server)
        pids = descendants(server.process.pid)
        os.kill(server.process.pid, signal.SIGKILL)
        assert until(lambda: not alive(pids))
    finally:
        server.kill()


def test_a_time_limit_ends_a_copy(server):
    def timed_out(timeout):
        assert until_one_waits(server, lambda: call(server, "pass"))
        return call(server, "import time\nprint('on', flush=True)\ntime.sleep(60)", timeout=timeout)

    structured = with_more_time(timed_out, lambda result: "KeyboardInterrupt" in result["stderr"] and result["stdout"])
    assert structured["timed_out"] and structured["timings"]["warm"] and structured["stdout"] == "on\n"
    assert "KeyboardInterrupt" in structured["stderr"]
    assert copy(server, "print(1)")["stdout"] == "1\n"


# A module that says which process executes it: that of a script is the second of its namespace, in a copy too.
TELLS = "import os\nopen({!r} + '/executed-by-%d' % os.getpid(), 'w').close()\nvalue = 1\n"
BY_SCRIPTS = ["executed-by-2"]


def executed(place):
    return sorted(path.name for path in pathlib.Path(place).glob("executed-by-*"))


@contextlib.contextmanager
def led_to_what_scripts_write(tmp_path, **settings):
    """A server whose Python is led to the working directory and to a place to write in, as by editable packages; yields it
    and the places."""
    places = [tmp_path / name for name in ("work", "work/src", "results", "results/lib/python")]
    for place in places:
        place.mkdir(parents=True)
    venv.create(tmp_path / "venv")
    (packages,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (packages / "editable.pth").write_text("".join(f"{place}\n" for place in places))
    environment = {"type": "venv", "venv_path": str(tmp_path / "venv"), "isolation": "sandbox", "write": [str(places[2])],
                   **settings}
    with Watched(config={"environments": {"venv": environment}, "working_directory": str(places[0])}) as server:
        server.initialize()
        yield server, places


def test_nothing_that_scripts_write_is_executed_in_a_zygote(tmp_path):
    with led_to_what_scripts_write(tmp_path) as (server, places):
        names = [f"planted_{number}" for number in range(len(places))]
        plant = "".join(f"open({f'{place}/{name}.py'!r}, 'w').write({TELLS.format(str(place))!r})\n"
                        for place, name in zip(places, names))
        assert copy(server, plant)["success"]
        for _ in range(3):
            assert copy(server, "".join(f"import {name}\n" for name in names))["success"]
        assert [executed(place) for place in places] == [BY_SCRIPTS] * len(places)


def test_a_copy_is_led_where_every_python_is(tmp_path):
    with led_to_what_scripts_write(tmp_path) as (server, places):
        code = "import sys; print(sys.path[1:])"
        plain = subprocess.run([tmp_path / "venv/bin/python", "-c", code], text=True, capture_output=True).stdout
        assert all(str(place) in plain for place in places)
        assert copy(server, code)["stdout"] == plain


def test_what_every_python_executes_a_copy_executes_too(tmp_path):
    with led_to_what_scripts_write(tmp_path) as (server, places):
        copy(server)
        (places[3] / "sitecustomize.py").write_text(TELLS.format(str(places[3])))
        for _ in range(3):
            assert copy(server, "import sys; print('sitecustomize' in sys.modules)")["stdout"] == "True\n"
        assert executed(places[3]) == BY_SCRIPTS


def test_what_scripts_of_another_environment_write_is_not_executed_in_a_zygote(tmp_path):
    """What one passes on another reads, whose Python is led there."""
    passed_on = tmp_path / "passed_on"
    (passed_on / "lib").mkdir(parents=True)
    reader = with_module(tmp_path, f"import site\nsite.addsitedir({str(passed_on / 'lib')!r})\n")
    environments = {"writer": {**SYSTEM, "write": [str(passed_on)]},
                    "reader": {**reader, "isolation": "sandbox", "read": [str(passed_on / "lib")]}}
    with Watched(config={"environments": environments, "default_environment": "reader"}) as server:
        server.initialize()
        plant = f"open({str(passed_on / 'lib/sitecustomize.py')!r}, 'w').write('import os; pid = os.getpid()')"
        assert call(server, plant, environment="writer")["success"]
        for _ in range(3):
            assert copy(server, "import sitecustomize; print(sitecustomize.pid)")["stdout"] == "2\n"


def test_a_module_in_a_place_to_write_in_is_always_the_one_that_is_there(tmp_path):
    with led_to_what_scripts_write(tmp_path) as (server, places):
        for value in range(3):
            for place in places:
                (place / f"mine_in_{place.name}.py").write_text(f"value = {value}\n")
            code = "".join(f"import mine_in_{place.name} as mine; print(mine.value)\n" for place in places)
            assert copy(server, code)["stdout"] == f"{value}\n" * len(places)


PLANT_BYTECODE = """
import importlib._bootstrap_external as external, importlib.util, os
source = importlib.util.find_spec('colorsys').origin
target = importlib.util.cache_from_source(source)
os.makedirs(os.path.dirname(target))
with open(target, 'wb') as file:
    file.write(external._code_to_timestamp_pyc(compile({!r}, source, 'exec'), int(os.stat(source).st_mtime),
                                               os.stat(source).st_size))
"""


def test_bytecode_that_scripts_write_is_not_executed_in_a_zygote(tmp_path):
    place = tmp_path / "cache"
    place.mkdir()
    environment = with_module(tmp_path, f"import sys\nsys.pycache_prefix = {str(place)!r}\n")
    with serving({**environment, "write": [str(place)]}) as server:
        assert call(server, PLANT_BYTECODE.format(TELLS.format(str(place))))["success"]
        for _ in range(3):
            assert copy(server, "import colorsys")["success"]
        assert executed(place) in ([], BY_SCRIPTS)


@pytest.mark.parametrize("variable, value", [("PYTHONPYCACHEPREFIX", None), ("PYTHONPLATLIBDIR", "lib"), ("LOCPATH", None)])
def test_where_a_variable_leads_python_elsewhere_nothing_waits(tmp_path, variable, value):
    """Not to a place that scripts write in, but it could."""
    with serving({"write": [str(tmp_path)], "environment": {variable: value or str(tmp_path)}}) as server:
        for _ in range(2):
            assert not call(server, "pass")["timings"]["warm"]
            assert not until(lambda: waiting(server), 1)


def test_places_to_write_in_can_lie_in_one_another(tmp_path):
    places = [tmp_path / name for name in ("a", "a/b", "a/b/c")]
    for place in places:
        place.mkdir()
    with serving({"write": [str(places[0]), str(places[2])]}, working_directory=str(places[1])) as server:
        for place in places:
            copy(server, f"open({str(place)!r} + '/written', 'w').write('1')")
            assert (place / "written").read_text() == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a directory there")
def test_a_directory_in_the_root_is_not_executed_in_a_zygote():
    place = pathlib.Path(tempfile.mkdtemp(prefix="pyexecd_test_", dir="/"))
    try:
        with serving(working_directory=str(place)) as server:
            assert call(server, f"open('__init__.py', 'w').write({TELLS.format(str(place))!r})")["success"]
            for _ in range(3):
                copy(server, "if 0: import unittest.__main__")
            assert executed(place) == []
    finally:
        shutil.rmtree(place)


def test_places_to_write_in_are_empty_in_the_root_of_a_zygote(tmp_path):
    with led_to_what_scripts_write(tmp_path) as (server, places):
        copy(server, f"open('left', 'w'); open({str(places[2])!r} + '/left', 'w')")
        (zygote,) = ours(server, is_zygote)
        root = f"/proc/{zygote}/root"
        assert os.listdir(f"{root}{places[0]}") == ["script.py"] and os.stat(f"{root}{places[0]}/script.py").st_size == 0
        assert os.listdir(f"{root}{places[2]}") == [] and os.listdir(f"/proc/{zygote}/cwd") == ["script.py"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a directory there")
@pytest.mark.parametrize("devices", [[], ["gpu"]], ids=["", "devices"])
@pytest.mark.parametrize("parent", ["/run", "/dev/shm", "/sys", "/sys/devices"])
def test_the_working_directory_can_lie_where_a_sandbox_has_its_own(parent, devices):
    """The root of a sandbox covers the machine's at /sys, and shows facts about devices there."""
    work = f"{parent}/work"
    mounts = f"mount -t tmpfs none /run && mount -t tmpfs none /dev/shm && mount -t tmpfs none /sys && mkdir -p {work}"
    command = ["unshare", "--mount", "sh", "-c", f'{mounts} && exec "$PYEXECD" "$@"', "sh"]
    with serving({"devices": devices} if devices else {}, command=command, working_directory=work) as server:
        for number in range(3):
            result = copy(server, f"import os; print(os.getcwd(), sorted(os.listdir())); open('{number}', 'w')")
            assert result["stdout"] == f"{work} {[*map(str, range(number)), 'script.py']}\n"
            if parent != "/sys/devices":
                shown = ["fs", "sys"] if parent == "/sys" else []  # the limits of the run
                assert copy(server, f"import os; print(sorted(os.listdir({parent!r})))")["stdout"] == f"{[*shown, 'work']}\n"


def test_a_place_that_a_link_of_the_sandbox_leads_to_is_shown_in_a_copy():
    """There /var/tmp is /tmp, which is a copy's own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        pathlib.Path(folder, "there").touch()
        with serving({"read": [folder]}) as server:
            assert copy(server, f"import os; print(os.listdir({folder!r}))")["stdout"] == "['there']\n"


EXCHANGE = """
import ctypes, os
os.chdir({outer!r})
os.symlink({target!r}, 'link')
exchange = ctypes.CDLL(None).renameat2
while not os.path.exists('enough'):
    assert exchange(-100, b'between', -100, b'link', 2) == 0
"""


@contextlib.contextmanager
def a_link_comes_and_goes(server, outer, target):
    """Meanwhile a script puts a link to TARGET in the place of the directory `between` in OUTER, and takes it away again."""
    exchange = server.start_tool("run_python", {"code": EXCHANGE.format(outer=str(outer), target=str(target))})
    try:
        assert until(lambda: os.path.lexists(outer / "link"))
        yield
    finally:
        (outer / "enough").touch()
        assert server.wait(exchange)["result"]["structuredContent"]["success"]


def answers(server, code, count=6):
    """What calls print that were not refused because of the link."""
    printed = []
    while len(printed) < count:
        structured = call(server, code)
        printed += [structured["stdout"]] if structured["success"] else []
    return set(printed)


def test_no_link_of_a_script_leads_a_place_to_write_in_elsewhere(tmp_path):
    outer = tmp_path / "outer"
    inner = outer / "between/lib"
    inner.mkdir(parents=True)
    (inner / "of_a_script").touch()
    with serving({"write": [str(outer), str(inner)]}) as server:
        copy(server)
        with a_link_comes_and_goes(server, outer, "/usr"):
            assert answers(server, "import os; print('of_a_script' in os.listdir('/usr/lib'))") == {"False\n"}


def test_no_link_of_a_script_leads_to_what_cannot_be_read(tmp_path):
    outer, elsewhere = tmp_path / "outer", tmp_path / "elsewhere"
    for place, text in ((outer / "between/data", "public"), (elsewhere / "data", "secret")):
        place.mkdir(parents=True)
        (place / "file").write_text(text)
    with serving({"read": [str(outer / "between/data")]}, working_directory=str(outer)) as server:
        with a_link_comes_and_goes(server, outer, elsewhere):
            assert answers(server, "print(open('between/data/file').read())") == {"public\n"}


@pytest.mark.parametrize("settings", [{}, {"start": "fresh"}], ids=["warm", "fresh"])
@pytest.mark.parametrize("number", range(4))
def test_nothing_that_scripts_write_is_executed_before_a_call(tmp_path, settings, number):
    """Neither in a zygote nor in a Python that is started ahead by itself."""
    with led_to_what_scripts_write(tmp_path, **settings) as (server, places):
        place = places[number]
        began = "open({!r}, 'a').write('once')\n".format(str(place / "began"))
        assert call(server, f"open({str(place / 'sitecustomize.py')!r}, 'w').write({began!r})")["success"]
        until(lambda: waiting(server), 2)
        assert not (place / "began").exists()
        result = call(server, f"print(open({str(place / 'began')!r}).read())")
        assert result["stdout"] == "once\n", result


# What a machine does that is slow: the start of Python, and of a copy.
SLOW = "import os, time\ntime.sleep(1)\nos.register_at_fork(after_in_child=lambda: time.sleep(4))\n"


def test_where_python_starts_slowly_its_first_copy_is_given_more_time(tmp_path):
    with serving(with_module(tmp_path, SLOW)) as server:
        call(server, "pass")
        assert until(lambda: ours(server, is_zygote) and waiting(server), 15)
        assert call(server, "pass")["timings"]["warm"]
        assert ours(server, is_zygote)
