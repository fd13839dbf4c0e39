"""Which system calls a script in a container may make: pyexecd's own profile, with any engine."""

import platform

import pytest

import docker_server as server_module

# Number on x86-64, and what a call with all arguments 0 answers where it is allowed is any other error.
DENIED = {
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438, "kcmp": 312,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "add_key": 248, "request_key": 249, "keyctl": 250,
    "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
    "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "fsopen": 430, "fsmount": 432,
    "fsconfig": 431, "fspick": 433, "move_mount": 429, "open_tree": 428, "mount_setattr": 442,
    "unshare": 272, "setns": 308, "open_by_handle_at": 304, "init_module": 175,
}
CALLS = f"""
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for name, number in {DENIED}.items():
    ctypes.set_errno(0)
    value = libc.syscall(number, 0, 0, 0, 0, 0, 0)
    print(name, value, errno.errorcode.get(ctypes.get_errno()))
"""
SOCKETS = """
import errno, socket
def attempt(*kind):
    try:
        socket.socket(*kind).close()
        return "made"
    except OSError as error:
        return errno.errorcode[error.errno]
for name, *kind in [("vsock", 40, 1), ("alg", 38, 5), ("packet", 17, 3), ("netfilter", 16, 3, 12),
                    ("mptcp", 2, 1, 262), ("udp-lite", 10, 2, 136), ("sequence", 2, 5), ("udp", 2, 2, 17),
                    ("unix", 1, 1), ("tcp", 2, 1), ("tcp6", 10, 1), ("route", 16, 3, 0)]:
    print(name, attempt(*kind))
"""
NAMESPACES = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
pid = libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)  # clone(CLONE_NEWUSER)
if pid == 0:
    os._exit(0)
print(pid, errno.errorcode.get(ctypes.get_errno()))
"""
ORDINARY = """
import asyncio, concurrent.futures, mmap, multiprocessing, os, select, signal, socket, sqlite3, subprocess
import tempfile, threading, time, shutil
def square(x): return x * x
if __name__ == '__main__':
    with multiprocessing.Pool(2) as pool:
        assert pool.map(square, [1, 2]) == [1, 4]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert list(pool.map(square, [3])) == [9]
    a, b = socket.socketpair()
    a.send(b'x'); assert b.recv(1) == b'x'
    assert socket.getaddrinfo('127.0.0.1', 80) and socket.if_nameindex()
    asyncio.run(asyncio.create_subprocess_exec('true'))
    assert subprocess.run(['sh', '-c', 'exit 3']).returncode == 3
    sqlite3.connect('there.db').execute('create table t (a)')
    mmap.mmap(-1, 4096).close()
    os.mkfifo('fifo'); os.sched_setaffinity(0, os.sched_getaffinity(0)); os.nice(1)
    os.memfd_create('x'); select.epoll().close()
    with tempfile.TemporaryDirectory() as folder:
        open(f'{folder}/a', 'w').write('x'); shutil.copy(f'{folder}/a', 'b'); shutil.move('b', 'c')
    os.chmod('c', 0o600); os.link('c', 'd'); os.symlink('d', 'e'); os.utime('c'); os.truncate('c', 0)
    print('all done')
"""
# Every way to a file that others run with its owner's rights, or its group's: numbers, and arguments behind a path.
MODES = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
open('file', 'w').close()
fd = os.open('file', os.O_RDONLY)
CREATE, UNNAMED = os.O_CREAT | os.O_WRONLY, os.O_TMPFILE | os.O_WRONLY
def ways(mode):
    yield 'chmod', 90, b'file', mode
    yield 'fchmod', 91, fd, mode
    yield 'fchmodat', 268, -100, b'file', mode
    yield 'fchmodat2', 452, -100, b'file', mode, 0
    yield 'creat', 85, b'made', mode
    yield 'open', 2, b'made', CREATE, mode
    yield 'openat', 257, -100, b'made', CREATE, mode
    yield 'unnamed', 257, -100, b'.', UNNAMED, mode
    yield 'openat2', 437, -100, b'made', (ctypes.c_uint64 * 3)(CREATE, mode, 0), 24
    yield 'mknod', 133, b'made', mode, 0
    yield 'mknodat', 259, -100, b'made', mode, 0
for bits in (0o4000, 0o2000, 0o6000):
    for name, number, *arguments in ways(0o755 | bits):
        libc.syscall(number, *arguments)
        for file in os.listdir('.'):
            assert not os.stat(file).st_mode & 0o6000, (name, oct(bits))
            if file == 'made':
                os.unlink(file)
for name, number, *arguments in ways(0o755):
    libc.syscall(number, *arguments)
    print(name, os.path.exists('made') or os.stat('file').st_mode & 0o111 != 0)
    os.chmod('file', 0o644)
    if os.path.exists('made'):
        os.unlink('made')
try:
    os.chmod('file', 0o4755)
except PermissionError:
    print('refused')
"""

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86-64")


@pytest.fixture(params=["engine", "podman"])
def server(request):
    engine = request.getfixturevalue(request.param)
    with server_module.DockerServer(engine) as server:
        server.initialize()
        yield server


def answers(result):
    assert result["success"], result
    return dict(line.split(" ", 1) for line in result["stdout"].splitlines())


def test_ways_out_of_containers_are_out_of_reach(server):
    assert answers(server.run(CALLS)) == {name: "-1 EPERM" for name in DENIED}


def test_sockets_are_of_few_families(server):
    got = answers(server.run(SOCKETS))
    refused = {name for name, answer in got.items() if answer in ("EPERM", "ENOSYS")}
    assert refused == {"vsock", "alg", "packet", "netfilter", "mptcp", "udp-lite", "sequence"}, got
    assert {name for name, answer in got.items() if answer == "made"} >= {"unix", "tcp", "udp", "route"}, got


def test_a_script_gets_no_new_namespace(server):
    number, error = server.run(NAMESPACES)["stdout"].split()
    assert number == "-1" and error in ("EPERM", "ENOSYS")


def test_no_file_is_left_that_others_run_with_its_owners_rights(server):
    """In a directory of this machine it would be root's, with a server of root."""
    result = server.run(MODES)
    assert result["success"], result["stderr"]
    *made, refused = result["stdout"].splitlines()
    assert refused == "refused"
    assert {line.split()[0] for line in made if line.endswith(" True")} >= {
        "chmod", "fchmod", "fchmodat", "creat", "open", "openat", "mknod", "mknodat"}, result["stdout"]


def test_ordinary_programs_notice_nothing(server):
    result = server.run(ORDINARY)
    assert result["stdout"] == "all done\n", result


def test_packages_can_be_installed(server):
    """pip, as root of its container."""
    result = server.run("import subprocess, sys\n"
                        "print(subprocess.run([sys.executable, '-m', 'pip', '--version']).returncode)")
    assert result["stdout"].endswith("0\n"), result


def test_the_receipt_says_that_nothing_is_missing(server):
    assert server.run("pass")["containment"]["missing"] == []
