"""How the Python of a session makes a copy of itself, which goes on as another session (see driver.py).

An order comes with four descriptors: the socket for the cells of the copy, its standard output and errors, and a gate.
Over the gate the supervisor is told that the copy is there, or why it cannot be; it knows by itself who says so. Both wait
at the gate until the copy is in its cgroups.
"""

import fcntl
import functools
import gc
import os
import select
import signal
import stat
import sys
import time
import warnings

SYS_CLONE = {"x86_64": 56, "aarch64": 220}
CLONE_PARENT, CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID = 0x8000, 0x200000, 0x1000000
PR_GET_TID_ADDRESS = 40
CHANNEL_OF_COPY, OUTPUT_OF_COPY, ERRORS_OF_COPY, GATE = range(4)
SUPERVISOR = 1
CGROUP_SECONDS = 10  # until the supervisor has the copy for a child
START_SECONDS = 1  # that the original waits for its copy, which may have died
THREAD_SECONDS = 0.2  # for threads that end because of the fork
WHY_BYTES = 200
HARMLESS_DEVICES = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
F_GET_SEALS, F_SEAL_WRITE = 1034, 8


class NotCopied(Exception):
    """Why there is no copy."""


def check_threads_of_python():
    others = len(sys._current_frames()) - 1
    if others:
        raise NotCopied(f"it has threads at work ({others})")


def check_children():
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return
    raise NotCopied("it has child processes; end them and wait for them first")


def check_memory():
    with open("/proc/self/maps", "rb") as maps:
        for line in maps:
            fields = line.split(None, 5)
            name = fields[5].strip().decode("utf-8", "replace") if len(fields) > 5 else ""
            if fields[1][1:2] == b"w" and fields[1][3:4] == b"s":
                raise NotCopied(f"it has memory that a copy would share with it ({name or 'mmap'})")


def is_sealed(fd):
    try:
        return bool(fcntl.fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE)
    except OSError:
        return False


def check_descriptor(fd):
    """True when the copy needs an open file of its own."""
    status = os.fstat(fd)
    kind, name = status.st_mode, os.readlink(f"/proc/self/fd/{fd}")
    if stat.S_ISDIR(kind) or (stat.S_ISCHR(kind) and name in HARMLESS_DEVICES):
        return False
    if not stat.S_ISREG(kind):
        raise NotCopied(f"it has something open that two cannot use ({name})")
    if is_sealed(fd):
        return False
    if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY:
        raise NotCopied(f"it has a file open for writing ({name}); close it first")
    if not status.st_nlink:
        raise NotCopied(f"it has a file open that was removed ({name}); close it first")
    return True


def files_to_open(ours):
    files = []
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd in ours:
            continue
        try:
            os.fstat(fd)
        except OSError:
            continue  # that of the list itself
        if check_descriptor(fd):
            files.append(fd)
    return files


def open_again(fd):
    """Who reads in one of the two does not move the place of the other."""
    again = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
    os.lseek(again, os.lseek(fd, 0, os.SEEK_CUR), os.SEEK_SET)
    os.dup2(again, fd, inheritable=os.get_inheritable(fd))
    os.close(again)


def descriptors_of(loop):
    """Those of an event loop: a copy makes another one."""
    if loop is None or loop.is_closed():
        return []
    import asyncio

    if asyncio.all_tasks(loop):
        raise NotCopied("it has tasks of asyncio that have not ended")
    parts = [getattr(loop, name, None) for name in ("_selector", "_ssock", "_csock")]
    return [part.fileno() for part in parts if part is not None]


def count_threads():
    return len(os.listdir("/proc/self/task"))


def has_threads():
    """Libraries that can be copied end theirs before a fork, and begin others when they need some."""
    deadline = time.monotonic() + THREAD_SECONDS
    while count_threads() > 1:
        if time.monotonic() > deadline:
            return True
        time.sleep(0.001)
    return False


def fork():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()


def wait_for(child):
    try:
        os.waitpid(child, 0)
    except ChildProcessError:  # SIGCHLD is ignored
        pass


def prepare_clone():
    """The C library, and a function of it that forks off a child of our parent. None: this Python cannot do that."""
    try:
        import ctypes

        library, number, address = ctypes.PyDLL(None), SYS_CLONE[os.uname().machine], ctypes.c_void_p()
        if library.prctl(PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) or not address:
            return None  # the C library has its thread's number there, which the kernel is to renew
        flags = CLONE_PARENT | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | signal.SIGCHLD
        places = (address, None) if number == SYS_CLONE["x86_64"] else (None, address)
        return library, functools.partial(library.syscall, ctypes.c_long(number), ctypes.c_long(flags), None, None, *places)
    except Exception:  # no ctypes, or what a cell has put there
        return None


def fork_aside():
    """As fork(), but the child is one of our parent; less than 0: that cannot be. The handlers that C libraries have for a
    fork are not called. They are for other threads, and here there are none."""
    prepared = prepare_clone() if os.getppid() == SUPERVISOR and count_threads() == 1 else None
    if prepared is None:
        return -1
    library, clone = prepared
    library.PyOS_BeforeFork()
    child = clone()
    if child:
        library.PyOS_AfterFork_Parent()
    else:
        library.PyOS_AfterFork_Child()
    return child


def fork_twice():
    """True in a grandchild, which is soon the child of the supervisor. The kernel goes through all memory twice, and once more at
    the end of the process between them."""
    verdict, ours = os.pipe()
    child = fork()
    if child:
        os.close(verdict)
        try:
            threads = has_threads()
            if not threads:
                os.write(ours, b"y")
        finally:
            os.close(ours)
            wait_for(child)
        if threads:
            raise NotCopied("it has threads of a library at work")
        return False
    os.close(ours)
    if not os.read(verdict, 1) or fork():
        os._exit(0)
    os.close(verdict)
    return True


def fork_away():
    """True in the copy."""
    child = fork_aside()
    return child == 0 if child >= 0 else fork_twice()


def wait_for_supervisor():
    deadline = time.monotonic() + CGROUP_SECONDS
    while os.getppid() != SUPERVISOR:
        if time.monotonic() > deadline:
            os._exit(0)
        time.sleep(0.0002)


def become_copy(given, files, state):
    """Before the copy is in its cgroups nothing of a cell is executed but what it has registered for forks."""
    wait_for_supervisor()
    if state is not None:
        sys.modules["random"].setstate(state)  # a fork gives it another seed
    for fd in files:
        open_again(fd)
    gc.freeze()  # what is there is not looked at again, which would copy it
    os.write(given[GATE], b"c")
    if not os.read(given[GATE], 1):
        os._exit(0)
    os.dup2(given[OUTPUT_OF_COPY], 1)
    os.dup2(given[ERRORS_OF_COPY], 2)


def wait_for_copy(gate):
    """What starts while the supervisor looks at the copy is taken for the copy's."""
    waiting = select.poll()
    waiting.register(gate, select.POLLIN)
    if waiting.poll(START_SECONDS * 1000):
        os.read(gate, 1)


def state_of_random():
    random = sys.modules.get("random")
    return random.getstate() if random is not None else None


def try_to_copy(channel, given, loop, kept):
    check_threads_of_python()
    check_children()
    check_memory()
    files = files_to_open([0, 1, 2, channel, *kept, *given, *descriptors_of(loop)])
    state = state_of_random()
    if not fork_away():
        wait_for_copy(given[GATE])
        return False
    try:
        become_copy(given, files, state)
        os.dup2(given[CHANNEL_OF_COPY], channel, inheritable=False)
    except BaseException as error:
        refuse(given[GATE], error)
        os._exit(1)
    return True


def refuse(gate, error):
    why = str(error) if isinstance(error, NotCopied) else f"{type(error).__name__}: {error}"
    try:
        os.write(gate, b"n" + why.encode("ascii", "replace")[:WHY_BYTES])
    except OSError:
        pass


def make_copy(channel, given, loop, kept):
    """Does what an order says. True in the copy; the original goes on in any case. KEPT are descriptors of the session."""
    try:
        return try_to_copy(channel, given, loop, kept)
    except BaseException as error:
        refuse(given[GATE], error)
        return False
    finally:
        for fd in given:
            os.close(fd)
