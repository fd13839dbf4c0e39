"""Very many calls that are copies of one Python leave a server as the first ones did.

WARM_RUNS in the environment is how many.
"""

import os

import leftovers
import pytest
from leftovers import Watched, descendants, is_zygote, until, until_made, waits_for_code

RUNS = int(os.environ.get("WARM_RUNS", "500"))
FIRST = 500  # after which nothing grows any more
ENOUGH = 1024  # KiB; and so much noise there is
MOST_PROCESSES = 3 + 2 + 4 * 2  # runners, the zygote and its supervisor, so many copies at most and theirs
CODE = "import json\nprint(json.dumps([{}]))"

pytestmark = [pytest.mark.heavy,
              pytest.mark.skipif(leftovers.sanitized(), reason="sanitizers keep what has been freed")]


def status(pid, name):
    """A number of /proc/PID/status, which can be read of what is undumpable, too."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(f"{name}:"))


def zygotes(server):
    return list(filter(is_zygote, descendants(server.process.pid)))


class Look:
    """What there is when nothing runs and copies wait."""

    def __init__(self, server):
        assert until_made(lambda: len(zygotes(server)) == 1, lambda: run(server, 1))
        (self.zygote,) = zygotes(server)
        assert until(lambda: len(descendants(server.process.pid)) <= MOST_PROCESSES)
        # Of the tables of descriptors, which grow when more are open.
        self.slots = status(server.process.pid, "FDSize"), status(self.zygote, "FDSize")
        self.kib = status(server.process.pid, "RssAnon")
        self.kib_of_zygote = status(self.zygote, "RssAnon")


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
        for _ in range(3):  # a zygote that leaves a copy unready for two seconds is replaced: the machine may be busy
            before = Look(server)
            files = len(server.files())
            run(server, RUNS)
            after = Look(server)
            if after.zygote == before.zygote:
                break
        assert after.zygote == before.zygote, "it has made all of them"
        assert after.slots == before.slots
        assert after.kib - before.kib < ENOUGH and after.kib_of_zygote - before.kib_of_zygote < ENOUGH
        assert len(server.files()) <= files
