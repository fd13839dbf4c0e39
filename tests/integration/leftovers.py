"""What a server and its runs have left on the machine, found from outside.

Every run of a `Watched` server carries a mark in its environment variables and works in a folder
with that mark in its name, so whatever it starts can be found in /proc: variables and command lines
are inherited, whatever else a process does to hide.
"""

import contextlib
import itertools
import os
import pathlib
import secrets
import shutil
import tempfile
import time

from client import Server

VARIABLE = "PYEXECD_TEST_MARK"
READ_BYTES = 1 << 16
CGROUPS = pathlib.Path("/sys/fs/cgroup")
# Code that leaves a process behind.
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
os.wait()
"""
PATIENCE = 60  # seconds in which what ends at all has ended, on any machine
SHORTEST_PAUSE, LONGEST_PAUSE = 0.01, 0.1  # seconds between two looks at what is waited for
MADE = 5  # seconds in which a copy of a zygote has become ready, or has been ended, on any machine
READY = 15  # the same, with the start of its zygote


def sanitized():
    """True when the program under test is built with AddressSanitizer."""
    return b"__asan_init" in pathlib.Path(os.environ["PYEXECD"]).read_bytes()


def until(condition, seconds=PATIENCE):
    """Waits until CONDITION() is true, at most SECONDS; its last value. Many conditions look at all processes of the
    machine, and many tests wait at a time: what takes longer, or takes long to look at, is looked at less often."""
    deadline = time.monotonic() + seconds
    pause = SHORTEST_PAUSE
    while True:
        began = time.monotonic()
        value = condition()
        look = time.monotonic() - began
        if value or time.monotonic() >= deadline:
            return value
        time.sleep(max(pause, min(5 * look, 5 * LONGEST_PAUSE)))
        pause = min(2 * pause, LONGEST_PAUSE)


def read(path):
    """A file of /proc, which is read by the thousand: without the objects of io and pathlib that takes half the time."""
    with contextlib.suppress(OSError):  # gone, or not ours
        descriptor = os.open(path, os.O_RDONLY)
        try:
            return b"".join(iter(lambda: os.read(descriptor, READ_BYTES), b""))
        finally:
            os.close(descriptor)
    return b""


def processes():
    """All process ids, newest first: a chain of forks goes on while somebody looks at the older ones."""
    return sorted((int(name) for name in os.listdir("/proc") if name.isdigit()), reverse=True)


def parent_and_state(pid):
    """(parent, state) of a process, (None, None) when it is gone."""
    fields = read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()
    return (int(fields[1]), fields[0].decode()) if fields else (None, None)


def began(pid):
    """When a process began, in hundredths of a second: numbers do not tell which of two is older. 0: it is gone."""
    fields = read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()
    return int(fields[19]) if fields else 0


def waits_for_code(pid):
    """True for a Python that was started ahead of a call: it has not come to a script yet."""
    return os.path.exists(f"/proc/{pid}/fd/101") and b"PYEXECD_HOME=" in read(f"/proc/{pid}/environ")


def waiting(server):
    """The Pythons that wait for calls of SERVER."""
    return [pid for pid in descendants(server.process.pid) if waits_for_code(pid)]


def until_made(condition, again, seconds=2 * PATIENCE):
    """Waits until CONDITION(), of what is made ready for calls to come. What is not ready within two seconds is ended,
    as on a busy machine, and made anew for the next call only: AGAIN() makes one."""
    for _ in range(seconds // READY):
        if until(condition, READY):
            return True
        again()
    return False


def until_one_waits(server, again, seconds=2 * PATIENCE):
    """Waits until a Python waits for the next call of SERVER."""
    return until_made(lambda: waiting(server), again, seconds)


def takes_orders(pid):
    """True for a zygote, and for a copy that it has just made."""
    return os.path.exists(f"/proc/{pid}/fd/102") and b"PYEXECD_HOME=" in read(f"/proc/{pid}/environ")


def is_later(pid):
    """True for a process that is not the first of its PID namespace, which a copy of a zygote is from the start."""
    return read(f"/proc/{pid}/status").partition(b"\nNSpid:")[2].partition(b"\n")[0].split()[-1:] not in ([], [b"1"])


def is_zygote(pid):
    """A child of a zygote (environments/process/core/footprint.c) is none, nor is what has ended since it was found."""
    return takes_orders(pid) and not takes_orders(parent_and_state(pid)[0]) and is_later(pid)


def runs_no_script(pid):
    """True for what is ready for calls to come, and for a supervisor, which may be a copy of such a Python. The looks
    are in the order in which a copy of a zygote becomes a supervisor, and a copy of that a Python that waits: what goes
    on from one to the next between two looks is seen all the same."""
    return takes_orders(pid) or read(f"/proc/{pid}/comm") == b"pyexecd-runner\n" or waits_for_code(pid)


def is_made_ready(pid):
    """True when a process, seen where there should be none, was being made for a call to come: a copy of a zygote shows
    for a moment neither what it was nor what it will be."""
    until(lambda: runs_no_script(pid) or not exists(pid), MADE)
    return runs_no_script(pid)


def descendants(ancestor):
    """The living descendants of a process, zombies too."""
    children = {}
    for pid in processes():
        children.setdefault(parent_and_state(pid)[0], []).append(pid)
    found, waiting = [], [ancestor]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def alive(pids):
    """Those of PIDS that still run; a zombie does not."""
    return [pid for pid in pids if parent_and_state(pid)[1] not in (None, "Z")]


def exists(pid):
    """True for a zombie, too."""
    return parent_and_state(pid) != (None, None)


def zombies(parent):
    return [pid for pid in processes() if parent_and_state(pid) == (parent, "Z")]


def status_kib(pid, field):
    """A line of /proc/PID/status that ends in kB: VmRSS, VmHWM."""
    for line in read(f"/proc/{pid}/status").decode().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise LookupError(f"no {field} for process {pid}")


def reset_peak(pid):
    """Makes VmHWM start again from now; False where that is not allowed."""
    try:
        pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def descriptors(pid):
    """How many descriptors a process has, or None where that cannot be seen."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:  # the server is not dumpable: only root sees them
        return None


class Watched(Server):
    """A server with a folder for everything it writes, whose processes can all be found."""

    def __init__(self, *arguments, config=None, environment=None, **more):
        self.mark = secrets.token_hex(8)
        self.home = pathlib.Path(tempfile.mkdtemp(prefix=f"pyexecd-{self.mark}-"))
        config = self.marked(dict(config or {}))
        self.private = {name: str(self.home) for name in
                        ("HOME", "TMPDIR", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")}
        super().__init__(*arguments, config=config,
                         environment={**self.private, **(environment or {})}, **more)

    def _start(self):
        super()._start()
        self.began = began(self.process.pid)

    def marked(self, config):
        """CONFIG with an environment whose runs carry the mark, where it has none."""
        system = {"type": "system", "environment": {VARIABLE: self.mark}}
        config.setdefault("environments", {"system": system})
        return config

    def processes(self):
        """Processes of this server's runs, wherever they have gone."""
        variable = f"{VARIABLE}={self.mark}".encode()
        return [pid for pid in processes()
                if (variable in read(f"/proc/{pid}/environ")
                    or self.mark.encode() in read(f"/proc/{pid}/cmdline"))
                and not runs_no_script(pid)]

    def files(self):
        """Everything below its folder but what it learns of imports; some of it may just be being removed."""
        paths = (os.path.relpath(os.path.join(folder, name), self.home)
                 for folder, *names in os.walk(self.home) for name in itertools.chain(*names))
        return sorted(path for path in paths if not path.startswith("pyexecd/imports"))

    def cgroups(self):
        """The cgroups that it has made. Their names tell when it began, too: another one, which was killed, may have had the
        same number."""
        namespace = os.stat("/proc/self/ns/pid").st_ino
        prefix = f"pyexecd-{namespace}-{self.process.pid}-{self.began}-"
        return [os.path.join(folder, name) for folder, names, _ in os.walk(CGROUPS) for name in names if name.startswith(prefix)]

    def survivors(self, seconds=PATIENCE):
        """Processes of its runs that are still there after SECONDS."""
        left = {}

        def none_is_left():
            left.clear()
            left.update((pid, read(f"/proc/{pid}/cmdline")) for pid in self.processes()
                        if not is_made_ready(pid) and exists(pid))
            return not left

        until(none_is_left, seconds)
        return left

    def kill(self):
        super().kill()
        with contextlib.suppress(AttributeError):
            shutil.rmtree(self.home, ignore_errors=True)
