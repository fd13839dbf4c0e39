"""A sandbox of a server that is root has a uid of its own, and its files are root's all the same."""

import ctypes
import http.server
import os
import pathlib
import re
import subprocess
import threading
import venv

import pytest
from leftovers import Watched, descendants, read, until, until_one_waits, waits_for_code

OWN_UIDS = range(0x70000000, 0x71000000)
PRIVATE_MOUNTS = ["unshare", "--mount", "sh", "-c"]

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not pathlib.Path("/proc/self/uid_map").read_text().split() == ["0", "0", "4294967295"],
    reason="for a server that is root of its machine")

SLEEPS = """
import time
open("begun", "w").close()
time.sleep(1000)
"""

# Every instance that a user may have, and they are kept.
USES_UP_INOTIFY = """
import ctypes, time
libc = ctypes.CDLL(None)
while libc.inotify_init() >= 0:
    pass
open("used", "w").close()
time.sleep(1000)
"""

FORKS = """
import os, time
made = 0
try:
    while made < 200:
        if os.fork() == 0:
            time.sleep(1000)
        made += 1
except OSError:
    pass
print(made)
"""


def sandbox(**more):
    return {"environments": {"system": {"type": "system", "isolation": "sandbox", **more}}}


def uids_below(server):
    """The uids of all processes of SERVER's runs, as the kernel knows them."""
    lines = (read(f"/proc/{pid}/status").decode() for pid in descendants(server.process.pid))
    return {int(number) for text in lines for number in re.findall(r"^Uid:\t(\d+)", text, re.MULTILINE)}


def begun(server, name, count=1):
    """Waits until COUNT scripts have made a file NAME."""
    assert until(lambda: len(list(server.home.rglob(name))) >= count)


def run(server, code):
    result = server.call_tool("run_python", {"code": code})["structuredContent"]
    assert result["success"], result
    return result


def test_each_run_has_its_own():
    with Watched(transport="unix", config=sandbox()) as server:
        for connection in (server, server.connect()):
            connection.initialize()
            connection.start_tool("run_python", {"code": SLEEPS})
        begun(server, "begun", 2)
        # What prepares the next tree has that one's for a moment.
        assert until(lambda: len([uid for uid in uids_below(server) if uid in OWN_UIDS]) == 2)


def test_script_sees_what_root_sees():
    with Watched(config=sandbox()) as server:
        server.initialize()
        result = run(server, "import os\n"
                             "open('made', 'w').close()\n"
                             "print(os.getuid(), os.getgid(), os.stat('made').st_uid, os.stat('/usr').st_uid,"
                             " os.stat('/tmp').st_uid, os.stat('script.py').st_gid)\n"
                             "open('/dev/stdout', 'w').write('again')")
        assert not [what for what in result["containment"]["missing"] if "uid of its own" in what]
        assert "0 0 0 0 0 0\n" in result["stdout"]
        assert "again" in result["stdout"]
        made = next(server.home.rglob("made")).stat()
        assert (made.st_uid, made.st_gid) == (0, 0)


def test_output_can_be_opened_again_in_a_copy_of_a_python_that_waits():
    opens = "for name in 'stdout', 'stderr':\n    open('/dev/' + name, 'w').write('again')"
    with Watched(config=sandbox()) as server:
        server.initialize()
        for _ in range(3):
            result = run(server, opens)
            assert (result["stdout"], result["stderr"]) == ("again", "again"), result
            assert until_one_waits(server, lambda: run(server, "pass"))
        assert result["timings"]["warm"]


def test_quota_of_the_server_is_not_used_up():
    libc = ctypes.CDLL(None, use_errno=True)
    with Watched(config=sandbox()) as server:
        server.initialize()
        server.start_tool("run_python", {"code": USES_UP_INOTIFY})
        begun(server, "used")
        instance = libc.inotify_init()  # this process has the user of the server
        assert instance >= 0, os.strerror(ctypes.get_errno())
        os.close(instance)


def test_named_file_that_only_root_may_read(tmp_path):
    (tmp_path / "private").write_text("known")
    (tmp_path / "private").chmod(0o600)
    with Watched(config=sandbox(read=[str(tmp_path)])) as server:
        server.initialize()
        assert run(server, f"print(open('{tmp_path}/private').read())")["stdout"] == "known\n"


def test_files_of_others_are_written_as_their_modes_say(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    os.chown(shared, 1000, 1000)
    with Watched(config=sandbox(write=[str(shared)])) as server:
        server.initialize()
        run(server, f"open('{shared}/made', 'w').close()")
        assert (shared / "made").stat().st_uid == 0


def test_processes_are_limited_without_a_cgroup():
    hidden = 'mount -t tmpfs none /sys/fs/cgroup && exec "$0" "$@"'
    config = {**sandbox(), "limits": {"processes": 20}}
    with Watched(config=config, command=[*PRIVATE_MOUNTS, hidden, os.environ["PYEXECD"]]) as server:
        server.initialize()
        result = run(server, FORKS)
        assert 10 < int(result["stdout"]) <= 20
        assert any("the resource limit is used" in what for what in result["containment"]["missing"])


def without_map(place, then):
    """The command of a server for which a file system that cannot map owners is at PLACE."""
    place.mkdir()
    if subprocess.run([*PRIVATE_MOUNTS, f"mount -t ramfs none {place}"], capture_output=True).returncode != 0:
        pytest.skip("no such file system")
    return [*PRIVATE_MOUNTS, f'mount -t ramfs none {place} && {then} && exec "$0" "$@"', os.environ["PYEXECD"]]


@pytest.mark.parametrize("key", ["read", "write"])
def test_file_system_that_cannot_map_owners(tmp_path, key):
    """A run that is shown one is root's, and says so."""
    place = tmp_path / "place"
    command = without_map(place, f"echo known >{place}/private && chmod 600 {place}/private")
    config = sandbox(**{key: [str(place)]})
    with Watched(config=config, command=command) as server:
        server.initialize()
        for _ in range(3):
            result = run(server, "import os\n"
                                 "open('made', 'w').close()\n"
                                 f"print(open('{place}/private').read(), os.stat('made').st_uid)")
            assert result["stdout"] == "known\n 0\n"
            assert [what for what in result["containment"]["missing"] if what.startswith("a uid of its own: ")]
            assert result["isolation"] == "sandbox"


SETS_THE_KERNEL = """
try:
    open("/proc/sys/kernel/core_pattern", "r+").close()
    told = "open"
except OSError:
    told = "closed"
"""


def test_package_cannot_set_the_kernel_where_owners_cannot_be_mapped(tmp_path):
    """A Python that waits for calls has loaded it, too."""
    place = tmp_path / "state"
    venv.create(tmp_path / "venv")
    (packages,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (packages / "early.py").write_text(SETS_THE_KERNEL)
    (packages / "early.pth").write_text("import early\n")
    config = sandbox(type="venv", venv_path=str(tmp_path / "venv"))
    with Watched(config=config, command=without_map(place, "true"), environment={"XDG_STATE_HOME": str(place)}) as server:
        server.initialize()
        told, warm = [], []
        while len(told) < 4 or not any(warm):
            result = run(server, "import early; print(early.told)")
            told.append(result["stdout"])
            warm.append(result["timings"]["warm"])
            until(lambda: [pid for pid in descendants(server.process.pid) if waits_for_code(pid)], 1)
        assert set(told) == {"closed\n"}


class Greeting(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_):
        pass


def test_hosts_are_reached_where_owners_cannot_be_mapped(tmp_path):
    """It is known late, when the first run has its proxy already."""
    place = tmp_path / "state"
    command = without_map(place, "true")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Greeting) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        where = f"127.0.0.1:{web.server_port}"
        with Watched(config=sandbox(network=[where]), command=command,
                     environment={"XDG_STATE_HOME": str(place)}) as server:
            server.initialize()
            for _ in range(3):
                result = run(server, f"import urllib.request\n"
                                     f"print(urllib.request.urlopen('http://{where}/', timeout=60).read())")
                assert result["stdout"] == "b'hello'\n"
                assert [what for what in result["containment"]["missing"] if what.startswith("a uid of its own: ")]
        web.shutdown()
