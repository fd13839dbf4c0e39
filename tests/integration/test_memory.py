"""The limit of memory where no cgroup enforces it: scripts get it in ways that RLIMIT_DATA does not count."""

import os
import pathlib
import platform
import subprocess
import sys

import pytest
from leftovers import Watched, until_one_waits

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
}

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
