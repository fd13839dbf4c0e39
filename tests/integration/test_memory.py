"""The limit of memory where no cgroup enforces it: scripts get it in ways that RLIMIT_DATA does not count."""

import os
import pathlib
import platform
import subprocess
import sys

import matrix_trial
import matrix_users
import pytest
from leftovers import Watched, sanitized, until, until_one_waits

LIMITED = pathlib.Path(__file__).with_name("limited.py")
WITHOUT_CGROUPS = [sys.executable, str(LIMITED), "cgroups", "--", os.environ["PYEXECD"]]
WAIT = "\nimport time; time.sleep(60)"
HOGS = {
    "files in memory": """
import os
for i in range(32):
    fd = os.memfd_create('x')
    for j in range(32): os.write(fd, bytes(1 << 20))
""",
    "shared maps": """
import mmap
maps = [mmap.mmap(-1, 32 << 20) for i in range(32)]
for one in maps:
    for page in range(0, 32 << 20, 4096): one[page] = 1
""",
    "many processes": """
import os
for i in range(16):
    if os.fork() == 0:
        x = bytearray(48 << 20)
        for page in range(0, 48 << 20, 4096): x[page] = 1
        import time; time.sleep(60)
""",
    "processes whose first thread has ended": """
import ctypes, os, threading, time
def fill():
    while open(f"/proc/{os.getpid()}/stat").read().rpartition(")")[2].split()[0] != "Z": pass
    x = bytearray(48 << 20)
    for page in range(0, 48 << 20, 4096): x[page] = 1
    time.sleep(60)
for i in range(16):
    if os.fork() == 0:
        threading.Thread(target=fill).start()
        ctypes.CDLL(None).syscall(60, 0)
""",
}

# Makes processes that share its memory, as vfork(2) does.
SHARING = """
import ctypes, signal
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
def share():
    stack = libc.mmap(None, ctypes.c_size_t(1 << 16), 3, 0x22, -1, ctypes.c_long(0))
    assert libc.clone(libc.pause, ctypes.c_void_p(stack + (1 << 16)), 0x100 | signal.SIGCHLD, None) > 0
"""

pytestmark = [
    pytest.mark.skipif(platform.machine() != "x86_64",
                       reason="the system call filter knows x86-64 alone"),
    pytest.mark.skipif(subprocess.run(["unshare", "--map-root-user", "true"],
                                      capture_output=True).returncode != 0,
                       reason="no user namespaces for this user"),
]


@pytest.fixture
def server():
    with Watched(command=WITHOUT_CGROUPS, config={"limits": {"memory": "128MiB"}}) as server:
        server.initialize()
        yield server


def run(server, code):
    return server.call_tool("run_python", {"code": code, "timeout": 100}, timeout=160)["structuredContent"]


@pytest.mark.parametrize("hog", HOGS)
def test_memory_of_all_processes_together_is_limited(server, hog):
    result = run(server, HOGS[hog] + WAIT)
    assert result["containment"]["limits"] == "rlimits", result
    assert result["out_of_memory"] and result["signal"] == "SIGKILL", result


def test_what_processes_share_counts_once(server):
    result = run(server, "import mmap, os, time\nshared = mmap.mmap(-1, 40 << 20)\n"
                 "for page in range(0, 40 << 20, 4096): shared[page] = 1\n"
                 "for i in range(8):\n    if os.fork() == 0:\n"
                 "        sum(shared[page] for page in range(0, 40 << 20, 4096))\n"
                 "        time.sleep(2); os._exit(0)\n"
                 "for i in range(8): os.wait()\nprint('done')")
    assert result["stdout"] == "done\n", result


def test_what_an_address_space_has_counts_once(server):
    result = run(server, f"{SHARING}\nx = bytearray(b'x') * (80 << 20)\nfor i in range(3): share()\n"
                 "import time; time.sleep(2); print('done')")
    assert result["stdout"] == "done\n", result


def test_a_process_that_shares_memory_hides_none_of_others(server):
    assert run(server, f"{SHARING}\nshare()\n{HOGS['many processes']}\nshare(){WAIT}")["out_of_memory"]


def has_keeper(server):
    """Whether a call is a copy that has one, the process 3 of its tree."""
    return run(server, "print(*open('/proc/1/task/1/children').read().split())")["stdout"] == "2 3\n"


@pytest.fixture
def with_keepers():
    """A server whose Python has so much memory that its copies have keepers. Where root has no cgroups he has no copies,
    so it is another user's."""
    if sanitized():
        pytest.skip("without cgroups a sanitized program has no copies")
    place = matrix_users.Place()
    path = pathlib.Path(place.venv("nobody"))
    (packages,) = path.glob("lib/python3*/site-packages")
    (packages / "large.py").write_text("large = bytearray(b'x') * (40 << 20)\n")
    (packages / "large.pth").write_text("import large\n")
    try:
        with matrix_trial.LocalServer("nobody", place, {"type": "venv", "venv_path": str(path)},
                                      config={"limits": {"memory": "128MiB"}}) as server:
            server.initialize()
            if run(server, "pass")["containment"]["limits"] != "rlimits":
                pytest.skip("this user has cgroups")
            assert until(lambda: server.until_one_waits() and has_keeper(server)) and server.until_one_waits()
            yield server
    finally:
        place.remove()


def test_what_a_copy_shares_with_its_keeper_counts_once(with_keepers):
    code = "x = bytearray(b'x') * (40 << 20)\nimport time; time.sleep(2)\n" \
           "print(open('/proc/1/task/1/children').read())"
    result = run(with_keepers, code)
    assert result["timings"]["warm"] and result["stdout"] == "2 3 \n", result


@pytest.mark.parametrize("hog", HOGS)
def test_a_copy_with_a_keeper_has_the_same_limit(with_keepers, hog):
    result = run(with_keepers, HOGS[hog] + WAIT)
    assert result["timings"]["warm"] and result["out_of_memory"] and result["signal"] == "SIGKILL", result


def test_the_receipt_says_how_the_limit_is_enforced(server):
    missing, = [what for what in run(server, "pass")["containment"]["missing"]
                if what.startswith("memory limit")]
    assert "measured ten times a second" in missing


def test_a_warm_run_that_is_moved_to_another_python_keeps_its_limits(tmp_path):
    """Somebody saves script.py anew, so that the code cannot be laid over the file that the waiting Python knows."""
    limits = "import resource\nprint([resource.getrlimit(which)[0] for which in (resource.RLIMIT_DATA, " \
             "resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC)])"
    with Watched(command=WITHOUT_CGROUPS, config={
            "working_directory": str(tmp_path), "limits": {"memory": "300MiB"}}) as server:
        server.initialize()
        usual = run(server, limits)["stdout"]
        assert usual.startswith(f"[{300 << 20}, ")
        for _ in range(3):
            assert until_one_waits(server, lambda: run(server, "pass"))
            (tmp_path / "new").write_text("pass")
            (tmp_path / "new").rename(tmp_path / "script.py")
            assert run(server, limits)["stdout"] == usual
