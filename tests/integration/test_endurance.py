"""A hundred thousand calls that are copies of one Python leave a server as the first thousand did.

WARM_RUNS in the environment is how many.
"""

import os

import leftovers
import pytest
from leftovers import Watched, descendants, is_zygote, until, waits_for_code

RUNS = int(os.environ.get("WARM_RUNS", "2000"))
FIRST = 500  # after which nothing grows any more
ENOUGH = 1 << 20  # bytes; and so much noise there is
CODE = "import json\nprint(json.dumps([{}]))"

pytestmark = [pytest.mark.serial,
              pytest.mark.skipif(leftovers.sanitized(), reason="sanitizers keep what has been freed")]


def own_bytes(pid):
    """Memory that no other process has."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        sizes = {line.split(":")[0]: line.split()[1] for line in file if line.endswith("kB\n")}
    return 1024 * (int(sizes["Private_Dirty"]) + int(sizes["Private_Clean"]))


class Look:
    """What there is when nothing runs and one copy waits."""

    def __init__(self, server):
        pids = descendants(server.process.pid)
        assert until(lambda: any(map(waits_for_code, descendants(server.process.pid))))
        (self.zygote,) = filter(is_zygote, pids)
        self.processes = len(pids)
        self.descriptors = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        self.of_zygote = len(os.listdir(f"/proc/{self.zygote}/fd"))
        self.bytes = own_bytes(server.process.pid)
        self.bytes_of_zygote = own_bytes(self.zygote)


def run(server, count):
    for number in range(count):
        result = server.call_tool("run_python", {"code": CODE.format(number)})["structuredContent"]
        assert result["stdout"] == f"[{number}]\n", result
    assert until(lambda: any(map(waits_for_code, descendants(server.process.pid))))


def test_many_calls_leave_nothing_and_nothing_grows():
    config = {"environments": {"system": {"type": "system", "isolation": "sandbox"}}}
    with Watched(config=config) as server:
        server.initialize()
        run(server, FIRST)
        before = Look(server)
        files = len(server.files())
        run(server, RUNS)
        after = Look(server)
        assert after.zygote == before.zygote, "it has made all of them"
        assert (after.processes, after.descriptors, after.of_zygote) == \
            (before.processes, before.descriptors, before.of_zygote)
        assert after.bytes - before.bytes < ENOUGH and after.bytes_of_zygote - before.bytes_of_zygote < ENOUGH
        assert len(server.files()) <= files + 1
