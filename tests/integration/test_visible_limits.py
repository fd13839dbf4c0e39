"""Programs that ask for the memory and the processors of the machine read the limits of their run, in a sandbox with a
root of its own."""

import json
import os
import pathlib

import pytest

from leftovers import Watched, until_one_waits
from sessions import Session

MEMORY, PROCESSES = 512 << 20, 40
LOOK = """
import json, os, pathlib
group = pathlib.Path("/sys/fs/cgroup")
def attempt(act, *arguments):
    try:
        act(*arguments)
    except OSError as error:
        return error.strerror
    return "done"
print(json.dumps({
    "files": {path.name: path.read_text() for path in sorted(group.iterdir())},
    "link": os.readlink("/sys/sys/fs/cgroup"),
    "mounts": [line.split()[4] for line in open("/proc/self/mountinfo") if " - cgroup" in line],
    "group": pathlib.Path("/proc/self/cgroup").read_text().splitlines()[-1],
    "memory": dict(line.split(":", 1) for line in pathlib.Path("/proc/meminfo").read_text().splitlines()),
    "changes": [attempt(open, group / "memory.max", "w"), attempt(os.unlink, group / "memory.max"),
                attempt(os.mkdir, group / "new"), attempt(open, "/proc/meminfo", "w")],
}))
"""


def serving(start, memory=MEMORY, **more):
    environment = {"type": "system", "isolation": "sandbox", "start": start, **more}
    return Watched(config={"environments": {"it": environment}, "sessions": {},
                           "limits": {"memory": memory, "processes": PROCESSES}})


def machine_memory():
    """Kilobytes."""
    return int(pathlib.Path("/proc/meminfo").read_text().split()[1])


def look(server):
    result = server.call_tool("run_python", {"code": LOOK})["structuredContent"]
    assert result["success"], result["stderr"]
    if result["containment"]["layers"]["own root directory"] != "enforced":
        pytest.skip("no root of its own here")
    return result["timings"]["warm"], json.loads(result["stdout"])


def assert_limits(seen):
    quota, period = map(int, seen["files"].pop("cpu.max").split())
    assert 0 < quota <= len(os.sched_getaffinity(0)) * period
    assert seen["files"] == {"cgroup.controllers": "cpu memory pids\n", "memory.max": f"{MEMORY}\n", "pids.max": f"{PROCESSES}\n"}
    assert seen["group"] == "0::/"
    # A program that takes the place of the cgroups from the table of mounts, as the JVM does, reads the same.
    assert seen["link"] == "/sys/fs/cgroup"
    assert not seen["mounts"] or any(place.startswith("/sys/sys/fs/cgroup") for place in seen["mounts"])
    assert all(seen["memory"][name].split() == [str(MEMORY // 1024), "kB"] for name in ("MemTotal", "MemFree", "MemAvailable"))
    assert {"Buffers", "Cached", "Shmem", "Active", "Inactive", "Slab", "SReclaimable", "SwapTotal"} <= set(seen["memory"])
    assert "done" not in seen["changes"]


@pytest.mark.parametrize("start", ["cold", "fresh", "warm"])
def test_a_script_reads_its_limits(start):
    with serving(start) as server:
        server.initialize()
        is_warm, seen = look(server)
        assert not is_warm
        assert_limits(seen)
        if start == "cold":
            return
        assert until_one_waits(server, lambda: look(server))
        is_warm, seen = look(server)
        assert is_warm
        assert_limits(seen)


def test_a_session_reads_its_limits():
    with serving("warm") as server:
        server.initialize()
        look(server)
        assert_limits(json.loads(Session(server, LOOK).result["stdout"]))


def test_a_limit_above_the_machine_leaves_its_memory_to_be_read():
    with serving("warm", memory=(machine_memory() + (1 << 20)) << 10) as server:
        server.initialize()
        _, seen = look(server)
        assert seen["memory"]["MemTotal"].split() == [str(machine_memory()), "kB"]
        assert int(seen["files"]["memory.max"]) > machine_memory() << 10
