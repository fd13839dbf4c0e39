"""Every system call between a request and its answer fails once: the answer is right or an error, nothing
is left, and the next call is answered as if nothing had happened.

The calls are those of the server, of the runner and of the supervisor; a script's own go on.
"""

import collections
import contextlib
import errno
import os
import platform
import resource
import signal
import sys
import time

import leftovers
import notified
import pytest
from arena import CONFIG, Arena, Arenas, Unheld, command, patience

# What fails how, on x86-64. Not among them: reading the clock, waiting for events, memory, and asking
# for a child that has ended, without waiting. They cannot fail, or nothing can be done about it
# (base/memory.h).
CALLS = {
    "read": (0, errno.EIO), "write": (1, errno.ENOSPC), "open": (2, errno.EMFILE),
    "fstat": (5, errno.ENOMEM), "dup2": (33, errno.EMFILE), "socket": (41, errno.EMFILE),
    "connect": (42, errno.ENOMEM), "sendto": (44, errno.ENOBUFS), "recvfrom": (45, errno.ENOMEM),
    "sendmsg": (46, errno.ENOBUFS), "recvmsg": (47, errno.ENOMEM), "socketpair": (53, errno.EMFILE),
    "clone": (56, errno.EAGAIN), "fork": (57, errno.EAGAIN),
    "kill": (62, errno.EPERM), "fcntl": (72, errno.ENOMEM), "flock": (73, errno.ENOLCK),
    "chdir": (80, errno.EIO), "fchdir": (81, errno.EIO), "rename": (82, errno.EIO),
    "mkdir": (83, errno.ENOSPC), "rmdir": (84, errno.EBUSY), "unlink": (87, errno.EIO),
    "chmod": (90, errno.EIO), "fchmod": (91, errno.EIO), "setsid": (112, errno.EPERM),
    "prctl": (157, errno.ENOMEM), "setrlimit": (160, errno.EPERM), "mount": (165, errno.ENOMEM),
    "umount2": (166, errno.EBUSY), "getdents64": (217, errno.EIO),
    "openat": (257, errno.ENFILE), "mkdirat": (258, errno.ENOSPC), "newfstatat": (262, errno.EIO),
    "unlinkat": (263, errno.EIO), "renameat": (264, errno.EIO), "unshare": (272, errno.ENOSPC),
    "signalfd4": (289, errno.EMFILE), "dup3": (292, errno.EMFILE), "pipe2": (293, errno.EMFILE),
    "prlimit64": (302, errno.EPERM), "renameat2": (316, errno.EIO), "seccomp": (317, errno.ENOMEM),
    "execveat": (322, errno.ENOMEM), "statx": (332, errno.ENOMEM),
    "pidfd_send_signal": (424, errno.EPERM), "open_tree": (428, errno.ENOMEM),
    "move_mount": (429, errno.ENOMEM), "fsopen": (430, errno.ENOMEM), "fsconfig": (431, errno.ENOMEM),
    "fsmount": (432, errno.ENOMEM), "pidfd_open": (434, errno.EMFILE), "clone3": (435, errno.EAGAIN),
    "close_range": (436, errno.ENOMEM), "openat2": (437, errno.ENFILE), "mount_setattr": (442, errno.ENOMEM),
    "landlock_create_ruleset": (444, errno.ENOMEM), "landlock_restrict_self": (446, errno.ENOMEM),
}
NUMBERS = {number: (name, error) for name, (number, error) in CALLS.items()}
LEVELS = ["namespace"]
OF_A_KIND = int(os.environ.get("INJECTIONS", "2"))  # how many of the same calls of a process fail
LATER_SECONDS = 0.3  # for what a call leaves to the background: its cgroup, its directory, the next spare

pytestmark = [
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86-64"),
    pytest.mark.skipif(leftovers.sanitized(), reason="a sanitizer makes calls of its own, too"),
]


class Injected(Unheld):
    """A server whose calls can be made to fail."""

    def __init__(self, level):
        self.chosen = None  # (process, call, the how-manieth of these) that fails
        self.seen = None  # a counter of (process, call) while they are looked at
        self.listener = None
        numbers = [str(number) for number in NUMBERS]
        super().__init__(transport="unix", config=CONFIG, command=[
            sys.executable, notified.__file__, *numbers, "--", *(command(level) or [os.environ["PYEXECD"]])])

    def connect(self):
        self.listener = self.listener or notified.Listener(self.process.pid, self.decide)
        return super().connect()

    def decide(self, pid, number):
        process = leftovers.read(f"/proc/{pid}/comm").decode().strip()
        if self.seen is None or not process.startswith("pyexecd") or number not in NUMBERS:
            return 0
        name, error = NUMBERS[number]
        self.seen[process, name] += 1
        return error if (process, name, self.seen[process, name]) == self.chosen else 0


def outcome(client):
    """What comes of a call: "right", "error", "gone" for a closed connection; anything else is wrong."""
    try:
        client.initialize()
        result = client.call_tool("run_python", {"code": "print(6 * 7)"}, timeout=patience())
    except (EOFError, ConnectionError):
        return "gone"
    except TimeoutError:
        return "no answer"
    content = result["structuredContent"]
    if content["success"]:
        return "right" if content["stdout"] == "42\n" else f"wrong: {content}"
    return "error" if content["error"] else f"no error: {content}"


def injected(arena, chosen):
    """A request on whose way the call CHOSEN fails, if it comes; what came of it, and what was seen."""
    server = arena.server
    client = server.connect()
    server.chosen, server.seen = chosen, collections.Counter()
    ended = outcome(client)
    client.close()
    time.sleep(LATER_SECONDS)
    seen, server.seen = server.seen, None
    return ended, seen


class Search:
    """Fails one call after the other, in a server that is as it should be."""

    def __init__(self, level):
        self.arenas = Arenas(lambda: Arena(level, Injected(level)))
        self.harm = []

    def calls(self):
        """What there is to fail, the first ones of each kind."""
        _, seen = injected(self.arenas.get(), None)
        return [(*kind, number) for kind, count in seen.items()
                for number in range(1, min(count, OF_A_KIND) + 1)]

    def fail(self, chosen):
        arena = self.arenas.get()
        ended, seen = injected(arena, chosen)
        print(*chosen, ended, flush=True)
        try:
            assert ended in ("right", "error", "gone"), ended
            arena.ask()
        except (AssertionError, OSError, EOFError) as what:
            self.harm.append(f"{chosen}: {what!r}; {arena.server.stderr()}")
            self.arenas.drop()

    def end(self):
        """Nothing is left of all of them."""
        left = self.arenas.get().left()
        if left:
            self.harm.append(f"left behind: {left}")
        self.arenas.close()


@pytest.mark.first
@pytest.mark.parametrize("level", LEVELS)
def test_each_call_fails_once(level):
    search = Search(level)
    calls = search.calls()
    assert {process for process, *_ in calls} == {"pyexecd", "pyexecd-runner"}
    for chosen in calls:
        search.fail(chosen)
    search.end()
    assert not search.harm, "\n".join(search.harm)


@pytest.mark.parametrize("more", [0, 1 << 16, 1 << 18, 1 << 20, 3 << 19])
def test_memory_that_the_server_cannot_have_ends_it_and_all_its_runs(more):
    """So no answer is made of half an allocation."""
    server = Unheld(transport="unix", config=CONFIG)
    try:
        server.initialize()
        server.start_tool("run_python", {"code": "import time; time.sleep(600)"})
        assert leftovers.until(server.processes)
        pages = int(leftovers.read(f"/proc/{server.process.pid}/statm").split()[0])
        limit = pages * os.sysconf("SC_PAGE_SIZE") + more
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (limit, limit))
        with contextlib.suppress(EOFError, ConnectionError):
            for _ in range(64):
                server.start_tool("run_python", {"code": "#" * (1 << 20)})
        assert server.process.wait(60) == -signal.SIGABRT
        assert "out of memory" in server.stderr()
        assert not server.survivors()
    finally:
        server.kill()
