"""Honest programs do under the filter of the sandbox what they do without it."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

UNDER_FILTER = pathlib.Path(os.environ["PYEXECD"]).parent / "tests" / "integration" / "under_filter"
DATA = pathlib.Path(__file__).parents[2] / ".deps" / "data" / "bin" / "python"
SECONDS = 300

pytestmark = [pytest.mark.once,
              pytest.mark.skipif(not UNDER_FILTER.exists(), reason="under_filter is not built")]

SCRIPTS = {
    "asyncio": """
import asyncio, sys
async def answer(reader, writer):
    writer.write((await reader.readline()).upper())
    await writer.drain()
    writer.close()
async def main():
    for start in (lambda: asyncio.start_server(answer, "127.0.0.1", 0), lambda: asyncio.start_unix_server(answer, "s")):
        server = await start()
        name = server.sockets[0].getsockname()
        reader, writer = await (asyncio.open_unix_connection(name) if isinstance(name, str)
                                else asyncio.open_connection(*name))
        writer.write(b"hello\\n")
        print(await reader.read())
        writer.close()
        server.close()
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(6 * 7)", stdout=-1)
    print(await child.communicate(), child.returncode)
    print(await asyncio.to_thread(sum, [1, 2, 3]))
asyncio.run(main())
""",
    "threads": """
import concurrent.futures, queue, threading
done = queue.Queue()
threads = [threading.Thread(target=done.put, args=(n,)) for n in range(40)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sorted(done.queue))
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    print(list(pool.map(lambda n: n * n, range(20))))
""",
    "multiprocessing": """
import multiprocessing, multiprocessing.shared_memory
def square(n):
    return n * n
def put(queue, lock, n):
    with lock:
        queue.put(n)
if __name__ == "__main__":
    for method in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            print(method, pool.map(square, range(5)))
        queue, lock = context.Queue(), context.Lock()
        child = context.Process(target=put, args=(queue, lock, 7))
        child.start()
        print(queue.get(), child.join(), child.exitcode)
    shared = multiprocessing.shared_memory.SharedMemory(create=True, size=4096)
    shared.buf[:2] = b"hi"
    print(bytes(shared.buf[:2]))
    shared.close()
    shared.unlink()
    with multiprocessing.Manager() as manager:
        print(manager.list([1, 2]))
""",
    "processes": """
import os, pty, signal, subprocess, sys
print(subprocess.run("echo $((6*7)) | cat; exit 3", shell=True, capture_output=True))
print(subprocess.run(["sort", "-n"], input=b"3\\n1\\n2\\n", capture_output=True).stdout)
child = subprocess.Popen(["sleep", "60"], start_new_session=True, process_group=None) if sys.version_info >= (3, 11) \\
    else subprocess.Popen(["sleep", "60"], start_new_session=True)
os.killpg(child.pid, signal.SIGTERM)
print(child.wait())
print(os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1], os.system("exit 2"))
pid = os.fork()
if pid == 0:
    os._exit(5)
handle = os.pidfd_open(pid)
print(os.waitid(os.P_PIDFD, handle, os.WEXITED).si_status)
print(pty.spawn(["true"]))
os.nice(1)
print(os.sched_getaffinity(0) == set(os.sched_getaffinity(os.getpid())), os.getpriority(os.PRIO_PROCESS, 0))
""",
    "files": """
import fcntl, glob, mmap, os, pathlib, shutil, stat, tempfile
os.makedirs("a/b/c")
pathlib.Path("a/b/one.txt").write_text("one")
os.link("a/b/one.txt", "a/two.txt")
os.symlink("two.txt", "a/three.txt")
shutil.copytree("a", "copy", symlinks=True)
shutil.copy2("a/two.txt", "a/four.txt")
os.chmod("a/four.txt", 0o640)
os.rename("a/four.txt", "a/five.txt")
os.truncate("a/five.txt", 2)
os.utime("a/five.txt", (1, 2))
os.mkfifo("fifo")
print(sorted(glob.glob("**", recursive=True)), oct(os.stat("a/five.txt").st_mode), os.stat("a/five.txt").st_mtime)
shutil.make_archive("packed", "gztar", "a")
shutil.unpack_archive("packed.tar.gz", "unpacked")
shutil.rmtree("a")
print(sorted(os.listdir("unpacked")), os.access("packed.tar.gz", os.R_OK), shutil.disk_usage(".").total > 0)
with tempfile.TemporaryFile() as file, tempfile.NamedTemporaryFile() as named:
    file.write(b"x" * 8192)
    file.flush()
    with mmap.mmap(file.fileno(), 4096) as mapped:
        mapped[:3] = b"abc"
        mapped.flush()
    os.posix_fallocate(file.fileno(), 0, 16384)
    fcntl.flock(file, fcntl.LOCK_EX)
    fcntl.lockf(named, fcntl.LOCK_EX)
    os.fsync(file.fileno())
    print(os.fstat(file.fileno()).st_size, os.pread(file.fileno(), 4, 0), os.sendfile(named.fileno(), file.fileno(), 0, 10))
    print(os.copy_file_range(file.fileno(), named.fileno(), 10, 0))
with os.scandir(".") as entries:
    print(sorted(entry.name for entry in entries if entry.is_dir()))
memory = os.memfd_create("m")
print(os.write(memory, b"12"), os.get_blocking(memory), stat.S_ISREG(os.fstat(memory).st_mode))
""",
    "the machine": """
import ctypes, faulthandler, locale, os, platform, resource, select, signal, socket, sqlite3, ssl, sys, time, zoneinfo
import curses, getpass, grp, hashlib, pwd, secrets, tty, uuid
print(locale.setlocale(locale.LC_ALL, "C.UTF-8"), platform.system(), os.cpu_count() > 0, os.uname().sysname)
print(len(ssl.create_default_context().get_ciphers()) > 0, ssl.RAND_bytes(4) != b"", len(secrets.token_hex()))
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
print(os.getloadavg()[0] >= 0, pwd.getpwuid(0).pw_name, os.sysconf("SC_PAGE_SIZE"), time.clock_gettime(time.CLOCK_MONOTONIC) > 0)
base = sqlite3.connect("base")
base.execute("pragma journal_mode=wal")
base.execute("create table t(n)")
base.executemany("insert into t values (?)", [(n,) for n in range(100)])
base.commit()
print(base.execute("select sum(n) from t").fetchone())
signal.signal(signal.SIGALRM, lambda *_: print("alarm"))
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigtimedwait([signal.SIGUSR1], 5).si_signo == signal.SIGUSR1)
poll, (one, other) = select.epoll(), socket.socketpair()
poll.register(one, select.EPOLLIN)
other.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, (0).to_bytes(4, sys.byteorder))])
print(len(poll.poll(5)), one.recvmsg(1, 64)[0])
print(any(name == "lo" for _, name in socket.if_nameindex()), socket.getaddrinfo("127.0.0.1", 80)[0][4])
print(ctypes.CDLL(None).getpid() == os.getpid(), str(uuid.uuid1()) != "", hashlib.scrypt(b"a", salt=b"b", n=16, r=1, p=1)[:2])
""",
}

DATA_SCRIPT = """
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot, numpy, pandas, scipy.linalg, sklearn.ensemble
square = numpy.random.default_rng(0).random((60, 60))
print(round(numpy.trace(square @ numpy.linalg.inv(square))), scipy.linalg.svd(square)[1].shape)
frame = pandas.DataFrame(square)
frame.to_csv("frame.csv")
print(pandas.read_csv("frame.csv").shape, frame.describe().shape)
forest = sklearn.ensemble.RandomForestClassifier(4, n_jobs=2, random_state=0).fit(square, square[:, 0] > 0.5)
print(forest.score(square, square[:, 0] > 0.5) > 0.9)
numpy.save("a.npy", square)
print(numpy.load("a.npy", mmap_mode="r").shape)
matplotlib.pyplot.plot(square[0])
matplotlib.pyplot.savefig("plot.png")
"""

COMMANDS = {
    "git": "git init -q . && git config user.name a && git config user.email a@b && echo x >f && git add f && "
           "git commit -qm one && git log --format=%s && git gc -q && git fsck && git clone -q . cloned && ls cloned",
    "gcc": "echo 'int puts(const char *); int main() { return !puts(\"42\"); }' >m.c && "
           "gcc -O2 m.c -o m && ./m",
    "tools": "seq 200000 | sort -R | sort -n --parallel=4 | tail -1; tar c /etc/hostname 2>/dev/null | tar t; "
             "find /etc -maxdepth 0; cp -a /etc/hostname copy; dd if=/dev/zero of=z bs=1k count=4 2>/dev/null; "
             "gzip z; xz -T2 z.gz; install -m 700 copy other; ls | sort; stat -c %a other; df . >/dev/null; "
             "curl --version | head -c 4; openssl dgst -sha256 /dev/null; timeout 5 true; nice true; flock copy true",
    "venv": f"{sys.executable} -m venv --without-pip v && v/bin/python -c 'print(1)'",
}


def run(command, directory, under=()):
    directory.mkdir()
    ran = subprocess.run([*under, *command], cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=SECONDS, env={**os.environ, "OMP_NUM_THREADS": "2"})
    return ran.returncode, ran.stdout, ran.stderr


def is_the_same_under_the_filter(command, tmp_path):
    without = run(command, tmp_path / "without")
    assert without[0] == 0, without[2]
    assert run(command, tmp_path / "sandbox", [UNDER_FILTER, "sandbox"]) == without


def script(tmp_path, text):
    path = tmp_path / "script.py"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_standard_library_works(name, tmp_path):
    is_the_same_under_the_filter([sys.executable, script(tmp_path, SCRIPTS[name])], tmp_path)


@pytest.mark.skipif(not DATA.exists(), reason="no .deps/data: ./dev deps installs it")
def test_data_work_goes(tmp_path):
    is_the_same_under_the_filter([str(DATA), script(tmp_path, DATA_SCRIPT)], tmp_path)


@pytest.mark.parametrize("name", COMMANDS)
def test_programs_work(name, tmp_path):
    if name in ("git", "gcc") and not shutil.which(name):
        pytest.skip(f"no {name}")
    is_the_same_under_the_filter(["sh", "-c", COMMANDS[name]], tmp_path)


CONNECT = """
import socket, urllib.request
for connect in (lambda: urllib.request.urlopen("http://127.0.0.1:9/"), lambda: socket.create_connection(("::1", 9))):
    try:
        connect()
    except OSError as error:
        print(error)
print(len(socket.socketpair()))
"""


def test_without_a_network_programs_say_so(tmp_path):
    ran = run([sys.executable, "-c", CONNECT], tmp_path / "offline", [UNDER_FILTER, "offline"])
    assert ran == (0, "<urlopen error [Errno 101] Network is unreachable>\n[Errno 101] Network is unreachable\n2\n", "")
