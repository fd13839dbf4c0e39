"""A server with one hostile client and one that looks on: what it still gets, and what is left.

    with Arena("landlock") as arena:
        arena.attack(program)
        arena.look_around()
"""

import contextlib
import ctypes
import os
import pathlib
import socket
import sys
import threading
import time

import corpus
import leftovers
import pytest
from leftovers import Watched

LIMITED = pathlib.Path(leftovers.__file__).with_name("limited.py")
DENIED = {"namespace": [], "cgroup": ["namespaces"], "landlock": ["namespaces", "cgroups"]}
TREES = {"namespace": "pid namespace", "cgroup": "cgroup", "landlock": "landlock", "docker": "container"}
ISOLATIONS = {"docker": "docker", "sandbox": "sandbox", "sandbox landlock": "sandbox", "sandbox hosts": "sandbox"}
LIMITS = {"memory": "128MiB", "disk": "32MiB", "processes": 48}
CONFIG = {"keep_for": 0, "timeout": corpus.DEFAULT_SECONDS, "limits": LIMITS}

ANSWER_SECONDS = 20  # on any machine, if it has nothing else to do
# For knock_out.py, whose programs are not held: what they do with the machine would make it longer.
PATIENCE_SECONDS = float(os.environ.get("PATIENCE_SECONDS", "0"))
# A large directory is removed in small steps. knock_out.py has no time for that.
SETTLE_SECONDS = float(os.environ.get("SETTLE_SECONDS", "90"))
STEADY_SECONDS = 3  # what is prepared for the next run is ready by then
LOOKS = 5
COMING_AND_GOING = ("descendants", "descriptors", "cgroups")
# More calls at once than there are copies of a Python that wait for one (WAITING_EQUAL in waiting.h).
BURST = 8
# What never ends has shown what it does in the first of these, unless a busy machine has not begun it by then.
FIRST_SECONDS = (1, 4)

# Of what a user may have a number of, this one is ours: who shares our quota has one less.
INOTIFY_INSTANCE = ctypes.CDLL(None).inotify_init()

SYSTEM_V = [pathlib.Path("/proc/sysvipc") / kind for kind in ("shm", "sem", "msg")]


def below(level):
    """The level that holds the process tree of LEVEL."""
    return corpus.BELOW.get(level, level)


def command(level):
    """What starts a server whose runs are held by LEVEL at most."""
    denied = DENIED[below(level)]
    if not denied:
        return None
    return [sys.executable, str(LIMITED), *denied, "--", os.environ["PYEXECD"]]


class Unheld(Watched):
    """A server whose default environment has no sandbox: what its process trees are held by, holds alone."""

    def marked(self, config):
        config = super().marked(config)
        config["environments"]["system"]["isolation"] = "none"
        return config


class OfOnePython(Unheld):
    """A server whose environment names its Python. What python3 leads to may be asked twice: as what
    it is called, and as what it is."""

    def marked(self, config):
        config = super().marked(config)
        config["environments"]["system"]["executable"] = sys.executable
        return config


class Sandboxing(OfOnePython):
    """A server whose default environment is a sandbox."""

    def marked(self, config):
        config = super().marked(config)
        config["environments"]["system"]["isolation"] = "sandbox"
        return config


class Host:
    """A service at ADDRESS of this machine, that hangs up on everybody."""

    def __init__(self, address="127.0.0.1"):
        self.listener = socket.create_server((address, 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):  # it was closed
            while True:
                self.listener.accept()[0].close()


def own_name():
    """(A name that leads to this machine, its address): not localhost, which means the machine. Or None."""
    for line in leftovers.read("/etc/hosts").decode().splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        for name in names:
            if address.startswith("127.") and name != "localhost":
                return name, address
    return None


class Reaching(Sandboxing):
    """A server whose default environment is a sandbox that reaches two hosts: one is listed, the other leads
    where it was not meant to. Programs are told both, and a third one that is not listed."""

    def marked(self, config):
        config = super().marked(config)
        name, address = own_name() or ("", "127.0.0.1")
        self.hosts = [Host(), Host(), Host(address)]
        listed, unlisted = (f"127.0.0.1:{host.port}" for host in self.hosts[:2])
        own = name and f"{name}:{self.hosts[2].port}"
        system = config["environments"]["system"]
        system["network"] = [listed, *filter(None, [own])]
        system["environment"] |= {"PYEXECD_TEST_LISTED": listed, "PYEXECD_TEST_UNLISTED": unlisted,
                                  "PYEXECD_TEST_OWN_NAME": own}
        return config

    def kill(self):
        super().kill()
        for host in self.hosts:
            host.listener.close()


KINDS = {"sandbox": Sandboxing, "sandbox landlock": Sandboxing, "sandbox hosts": Reaching}


def start(level):
    """A server whose runs are held by LEVEL."""
    kind = KINDS.get(level, OfOnePython)
    return kind(transport="unix", command=command(level), config=CONFIG)


def patience():
    """How long a client may wait, as much longer as the machine has more to do."""
    return PATIENCE_SECONDS or ANSWER_SECONDS * max(1, os.getloadavg()[0] / os.cpu_count())


def change(before, now):
    """What has come and what has gone."""
    if not isinstance(now, list):
        return before, now
    return [one for one in before if one not in now], [one for one in now if one not in before]


def is_as_before(what, before, now):
    """The first look may have met a Python that was still being asked: fewer of some are nothing that is left."""
    if what == "zombies":
        return set(now) <= set(before)
    return now == before or (what in COMING_AND_GOING and now is not None and now < before)


def receipt(result):
    """What a result says of how its run was held."""
    return {name: result[name] for name in ("environment", "isolation", "containment")}


class Arena:
    def __init__(self, level, server=None):
        """SERVER is a leftovers.Watched over unix; by default one of a system environment."""
        self.level = level
        self.server = server or start(level)
        self.server.initialize()  # this connection is the one that looks on
        self.receipt = receipt(self.looked_on("pass"))
        assert self.receipt["containment"]["process_tree"] == TREES[below(level)], self.receipt
        assert self.receipt["isolation"] == ISOLATIONS.get(level, "none"), self.receipt
        leftovers.until(self.knows_its_python, patience())
        self.have_all_that_waits()
        self.held = self.settled()

    def looked_on(self, code):
        """The structured content of what the client that looks on runs."""
        return self.server.call_tool("run_python", {"code": code})["structuredContent"]

    # What is left

    def knows_its_python(self):
        """True once the server has asked the Python of its environment, kept the answer, and ended the
        Python. One of a container it does not ask."""
        if self.level == "docker":
            return True
        if not any(self.server.home.glob("pyexecd/answers/*.json")):
            return False
        return all(map(leftovers.runs_no_script, leftovers.descendants(self.server.process.pid)))

    def have_all_that_waits(self):
        """Where calls come faster than a Python is ready for them, more of them wait. Of these there are never more
        than now: on a busy machine that would happen later, too, and look like something that is left."""
        if self.level != "docker":
            for call in [self.server.start_tool("run_python", {"code": "pass"}) for _ in range(BURST)]:
                self.server.wait(call)

    def system_v(self):
        """System V objects whose key is the beginning of this server's mark."""
        key = str(int(self.server.mark[:7], 16))
        return [line for kind in SYSTEM_V for line in leftovers.read(kind).decode().splitlines()
                if line.split()[0] == key]

    def looks(self):
        """What there is to look at, and how. What costs least comes first: most of them are in vain."""
        pid, mark = self.server.process.pid, self.server.mark
        return {
            "files": self.server.files,
            # Connections to an engine are kept, sometimes one and sometimes more.
            "descriptors": lambda: None if self.level == "docker" else leftovers.descriptors(pid),
            "mounts": lambda: leftovers.read(f"/proc/{pid}/mountinfo").count(mark.encode()),
            "shared memory": lambda: [name for name in os.listdir("/dev/shm") if mark in name],
            "System V": self.system_v,
            "keys": lambda: leftovers.read("/proc/keys").count(mark.encode()),
            "cgroups": lambda: len(self.server.cgroups()),
            "zombies": lambda: leftovers.zombies(pid),
            "descendants": lambda: len(leftovers.descendants(pid)),  # those prepared for the next run
            "processes": self.processes,
        }

    def processes(self):
        """Of a chain of forks each link may be gone before it is looked at, but hardly each time."""
        looks = (self.server.processes() for _ in range(LOOKS))
        return next(filter(None, looks), [])

    def measure(self):
        return {what: look() for what, look in self.looks().items()}

    def settled(self):
        """What a server that is idle again has, once it has been the same for STEADY_SECONDS."""
        seen, since = self.measure(), time.monotonic()

        def is_steady():
            nonlocal seen, since
            before, seen = seen, self.measure()
            if seen != before or seen["processes"]:
                since = time.monotonic()
            return time.monotonic() - since > STEADY_SECONDS

        leftovers.until(is_steady, max(SETTLE_SECONDS, patience()))
        return seen

    def left(self):
        """What there is beyond what there was at first, at the last of several looks."""
        def is_as_at_first():
            return all(is_as_before(what, self.held[what], look()) for what, look in self.looks().items())

        if leftovers.until(is_as_at_first, SETTLE_SECONDS):
            return {}
        now = self.measure()
        return {what: change(self.held[what], now[what]) for what in now
                if not is_as_before(what, self.held[what], now[what])}

    # The attack, and what there is to see after it

    def skip_what_is_missing(self, program):
        for what in self.receipt["containment"]["missing"]:
            if program.needs and what.startswith(program.needs):
                pytest.skip(what)

    def attack(self, program):
        """Runs PROGRAM as a client of its own, which then leaves."""
        self.skip_what_is_missing(program)
        client = self.server.connect()
        client.initialize()
        never_ends = program.expected(self.level).startswith("timeout")
        for limit in (*(FIRST_SECONDS if never_ends else ()), program.limit):
            result = self.attacked(client, program, limit)
            ended = corpus.outcome(result)
            if program.is_expected(ended, self.level):
                break
        again = client.call_tool("run_python", {"code": "print(6 * 7)"})["structuredContent"]
        client.close()
        assert program.is_expected(ended, self.level), \
            f"{ended!r} is not {program.expected(self.level)!r}; {result['stderr'][-2000:]}"
        assert program.files in (None, len(result["files"])), result["files"]
        assert corpus.outcome(again) == "exit 0: 42", f"next in its directory: {again}"

    def attacked(self, client, program, limit):
        """The structured content of PROGRAM's result, which comes soon after its LIMIT at the latest."""
        begun = time.monotonic()
        within = limit + patience()
        result = client.call_tool("run_python", {"code": program.code, "timeout": limit}, timeout=within)
        taken = time.monotonic() - begun
        assert taken < within, f"{corpus.outcome(result['structuredContent'])} after {taken:.1f} s"
        return result["structuredContent"]

    def look_around(self):
        """The server answers others in time, and as before; nothing is left."""
        self.ask()
        left = self.left()
        assert not left, f"left behind: {left}; {self.server.survivors(0)}"

    def ask(self):
        """Asserts that the client that looks on is answered in time, and as before."""
        begun = time.monotonic()
        result = self.looked_on("print(6 * 7)")
        taken = time.monotonic() - begun
        assert (result["success"], result["stdout"]) == (True, "42\n"), result
        assert taken < patience(), f"another client waited for {taken:.1f} s"
        assert receipt(result) == self.receipt

    def is_fit(self):
        """True when it can be used for the next program."""
        return self.server.process.poll() is None and not self.left()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.server.__exit__(*exception)


class Arenas:
    """Keeps one arena for all programs of a level, and makes a new one after one that was harmed."""

    def __init__(self, make):
        self.make = make
        self.arena = None

    def get(self):
        self.arena = self.arena or self.make()
        return self.arena

    def drop(self):
        """It was harmed."""
        self.arena.server.kill()
        self.arena = None

    def hold(self, program):
        """Runs PROGRAM and asserts that it has done no harm."""
        try:
            self.get().attack(program)
            self.arena.look_around()
        except BaseException:
            self.drop()
            raise

    def close(self):
        """Ends the server as a well-behaved client would."""
        if self.arena:
            self.arena.__exit__(None)
