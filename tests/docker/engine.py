"""A Docker engine of the tests' own: Debian's, beside any that the machine has, gone afterwards.

    with Engine() as engine:
        engine.api.get("/containers/json")
        subprocess.run(["docker", "ps"], env={**os.environ, **engine.environment})

containerd, sockets, images, containers, cgroups and the bridge are all this engine's own, under one
short folder (the path of a socket is at most 107 bytes). Containers on the bridge reach the machine
at `engine.gateway` and nothing beyond it: no firewall rule is made.
"""

import http.client
import ipaddress
import json
import os
import pathlib
import random
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.parse

import leftovers

START_SECONDS = 60
STOP_SECONDS = 30
MOST_BYTES = 4 << 30  # that an engine stores; most are content with 200 MB
SUBNETS = [f"10.{second}.{third}.0/24" for second in (213, 214) for third in range(0, 256, 2)]
PROGRAMS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class NoEngine(Exception):
    """No engine can be started here; the message says why."""


class ApiError(Exception):
    """The engine refused a request."""

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status = status


class Api:
    """Requests to the engine at the socket PATH; JSON in, JSON out."""

    VERSION = "/v1.41"

    def __init__(self, path):
        self.path = str(path)

    def open(self, method, path, body=None, headers=None, timeout=120):
        """The http.client response to one request on a connection of its own."""
        connection = http.client.HTTPConnection("engine", timeout=timeout)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(timeout)
        connection.sock.connect(self.path)
        connection.request(method, path, body, {"Connection": "close", **(headers or {})})
        return connection.getresponse()

    def request(self, method, path, query=None, body=None, headers=None):
        if isinstance(body, dict):
            body, headers = json.dumps(body), {"Content-Type": "application/json"}
        if query:
            path += "?" + urllib.parse.urlencode(
                {name: json.dumps(value) if isinstance(value, (dict, list)) else value
                 for name, value in query.items()})
        response = self.open(method, self.VERSION + path, body, headers)
        text = response.read()
        if response.status >= 400:
            raise ApiError(response.status, text.decode(errors="replace").strip())
        if response.getheader("Content-Type", "").startswith("application/json"):
            return [json.loads(line) for line in text.splitlines()] if b"\n{" in text \
                else json.loads(text or b"null")
        return text

    def get(self, path, **query):
        return self.request("GET", path, query)

    def post(self, path, body=None, **query):
        return self.request("POST", path, query, body)

    def delete(self, path, **query):
        return self.request("DELETE", path, query)

    def load(self, archive):
        """Loads images from ARCHIVE, as `docker load` does."""
        answer = self.request("POST", "/images/load", {"quiet": 1}, archive,
                              {"Content-Type": "application/x-tar"})
        if "error" in str(answer):
            raise ApiError(200, answer)

    def answers(self):
        try:
            return self.open("GET", "/_ping", timeout=5).status == 200
        except OSError:
            return False


def last_lines(path, count=5):
    try:
        return " | ".join(path.read_text(errors="replace").splitlines()[-count:])
    except OSError:
        return "it wrote nothing"


def ip(*arguments):
    """Runs ip(8); True when it worked."""
    return subprocess.run(["ip", *arguments], capture_output=True,
                          env={"PATH": PROGRAMS}).returncode == 0


def mounts_below(folder):
    """Mount points in FOLDER, the innermost first."""
    points = [line.split()[4] for line in
              pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in reversed(points) if point.startswith(f"{folder}/")]


def processes_of(program, folder):
    """Processes of PROGRAM that have FOLDER on their command line."""
    lines = {pid: leftovers.read(f"/proc/{pid}/cmdline") for pid in leftovers.processes()}
    return [pid for pid, line in lines.items() if program in line and str(folder).encode() in line]


def remove_cgroups(parents):
    """Removes control groups whose processes are ending."""
    for parent in parents:
        for folder, _, _ in os.walk(parent, topdown=False):
            leftovers.until(lambda: _removed(folder), 5)


def _removed(folder):
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def make_in_memory(folder, size=MOST_BYTES):
    """Makes FOLDER, in memory where that can be: a disk takes half a minute to remove what an engine has stored."""
    folder.mkdir()
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "disk", folder]).returncode == 0


def unmount_all(folder):
    for point in mounts_below(folder):
        subprocess.run(["umount", "--lazy", point])


class Bridge:
    """A bridge with a subnet that nothing on this machine uses."""

    def __init__(self):
        self.name = f"pxd{secrets.token_hex(5)}"
        routes = subprocess.run(["ip", "-4", "-o", "route"], capture_output=True, text=True,
                                env={"PATH": PROGRAMS}).stdout
        free = [subnet for subnet in SUBNETS if subnet not in routes]
        self.subnet = ipaddress.ip_network(random.choice(free))  # others look at the same time
        self.gateway = str(self.subnet[1])

    def __enter__(self):
        made = ip("link", "add", self.name, "type", "bridge") and \
            ip("address", "add", f"{self.gateway}/24", "dev", self.name) and \
            ip("link", "set", self.name, "up")
        if not made:
            self.__exit__()
            raise NoEngine(f"no bridge {self.name} with {self.gateway} can be made")
        return self

    def __exit__(self, *_):
        ip("link", "delete", self.name)


class Daemon:
    """A daemon that ends with whoever started it, its output in a file; by KILL where it does not end by TERM."""

    def __init__(self, log, *command, end_by="TERM"):
        self.log = log
        self.name = command[0]
        with open(log, "ab") as output:
            try:
                self.process = subprocess.Popen(
                    ["setpriv", "--pdeathsig", end_by, "--", *map(str, command)],
                    stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/",
                    env={"PATH": PROGRAMS}, start_new_session=True)
            except FileNotFoundError:
                raise NoEngine("no setpriv") from None

    def wait_until(self, ready):
        """Waits for READY() of a daemon that has been started."""
        leftovers.until(lambda: ready() or self.process.poll() is not None, START_SECONDS)
        if self.process.poll() is not None:
            raise NoEngine(f"{self.name} ended with {self.process.returncode}: "
                           f"{last_lines(self.log)}")
        if not ready():
            raise NoEngine(f"{self.name} is not ready after {START_SECONDS} s: "
                           f"{last_lines(self.log)}")

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()


class Engine:
    """dockerd and its containerd. DISK limits all that it stores, in bytes; OPTIONS are more of dockerd."""

    def __init__(self, disk=None, options=()):
        self.disk = disk
        self.options = options
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pxd-", dir="/tmp"))
        self.name = self.folder.name
        self.socket = self.folder / "docker.sock"
        self.api = Api(self.socket)
        self.environment = {"DOCKER_HOST": f"unix://{self.socket}"}
        (self.folder / "daemon.json").write_text("{}")  # instead of the machine's own
        self.containerd = None
        self.dockerd = None
        self.bridge = None

    shares_layers = True  # an archive to load may leave out layers that are there

    # Starting

    def __enter__(self):
        try:
            if os.geteuid() != 0:
                raise NoEngine("only root can start one")
            if not shutil.which("dockerd", path=PROGRAMS):
                raise NoEngine("no dockerd; ./dev deps installs it")
            self._make_disk()
            self.bridge = Bridge().__enter__()
            self._start_containerd()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make_disk(self):
        is_in_memory = make_in_memory(self.folder / "data", self.disk or MOST_BYTES)
        if self.disk and not is_in_memory:
            raise NoEngine("no tmpfs can be mounted")

    def _start_containerd(self):
        address = self.folder / "containerd.sock"
        configuration = self.folder / "containerd.toml"
        configuration.write_text(f"""version = 2
root = "{self.folder}/data/containerd"
state = "{self.folder}/containerd"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
address = "{address}"
""")
        self.containerd = Daemon(self.folder / "containerd.log",
                                 "containerd", "--config", configuration)
        self.containerd.wait_until(address.exists)

    def start(self):
        """Starts dockerd, again if it was killed; with plain copies where overlays are refused."""
        try:
            self._start("overlay2")
        except NoEngine:
            self._start("vfs")

    def _start(self, storage):
        (self.folder / "pid").unlink(missing_ok=True)  # of one that was killed
        self.dockerd = Daemon(
            self.folder / "dockerd.log", "dockerd",
            "--host", f"unix://{self.socket}", "--containerd", self.folder / "containerd.sock",
            "--data-root", self.folder / "data" / "docker", "--exec-root", self.folder / "exec",
            "--pidfile", self.folder / "pid", "--config-file", self.folder / "daemon.json",
            "--storage-driver", storage, "--cgroup-parent", f"/{self.name}",
            "--bridge", self.bridge.name, "--iptables=false", "--ip-masq=false",
            "--ip-forward=false", "--default-address-pool", self._address_pool(),
            "--max-download-attempts", "1", "--shutdown-timeout", "2", *self.options)
        self.dockerd.wait_until(self.api.answers)

    def _address_pool(self):
        """For networks that a test creates: the subnet after the bridge's."""
        return f"base={self.bridge.subnet.network_address + 256}/24,size=28"

    # In the middle of a test

    @property
    def gateway(self):
        """The machine's address as containers on the bridge see it."""
        return self.bridge.gateway

    def kill(self):
        """dockerd dies; its containers go on until it comes back."""
        self.dockerd.process.kill()
        self.dockerd.process.wait()

    def is_running(self):
        return self.dockerd.process.poll() is None

    def shims(self):
        """The processes that stand between containerd and its containers."""
        return processes_of(b"containerd-shim", self.folder)

    def cgroups(self):
        """Control groups of this engine's containers."""
        return [path for parent in self._cgroup_parents() for path in parent.iterdir()
                if path.is_dir()]

    def _cgroup_parents(self):
        return [*leftovers.CGROUPS.glob(f"*/{self.name}"), *leftovers.CGROUPS.glob(self.name)]

    # Stopping

    def __exit__(self, *_):
        for daemon in (self.dockerd, self.containerd):
            if daemon:
                daemon.end()
        for pid in self.shims():
            os.kill(pid, signal.SIGKILL)
        if self.bridge:
            self.bridge.__exit__()
        unmount_all(self.folder)
        remove_cgroups(self._cgroup_parents())
        shutil.rmtree(self.folder)
