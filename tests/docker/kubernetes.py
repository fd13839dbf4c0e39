"""A Kubernetes of the tests' own, of one machine: etcd, what plans, a kubelet, kube-proxy and containerd.

    with Cluster(programs()) as cluster:
        cluster.kubectl("get", "nodes")

All of it runs in namespaces of its own (processes, mounts, network), which end with whoever started them: pods, shims,
mounts, bridges and rules of firewalls are gone then, however that ended. The programs are built from the Go modules that
the folder `cluster` names, once, and kept in .deps/kubernetes; Debian's plugins give pods their network.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile

import engine
import leftovers

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = pathlib.Path(__file__).with_name("cluster")
CACHE = ROOT / ".deps/kubernetes"
GO = ROOT / ".deps/registry/bin/go"
PLUGINS = pathlib.Path("/usr/lib/cni")
BUILD_SECONDS = 3000
READY_SECONDS = 300
CALL_SECONDS = 300
MOST_BYTES = 6 << 30  # of images, containers and volumes

TAGS = "seccomp,no_btrfs,no_devmapper,no_zfs"
ADDRESS = "192.0.2.1"  # of the machine, in its own network
SERVICES, PODS = "10.96.0.0/24", "10.88.0.0/24"
TOKEN = "a-token-of-the-tests-0123456789"
NAMESPACE = "python"
OWN_PLACES = ["/run", "/var/lib", "/var/log"]  # where its programs write whatever their settings say
# What a kubelet wants of the kernel. It sees them so, and the machine keeps what it has.
TUNABLES = {"vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10, "kernel/panic_on_oops": 1,
            "kernel/keys/root_maxkeys": 1000000, "kernel/keys/root_maxbytes": 25000000}
CONTROLLERS = {"cpu", "cpuset", "memory", "pids"}
PAUSE = "int pause(void); int main(void) { for (;;) pause(); }"  # what keeps the namespaces of a pod


class NoCluster(Exception):
    """None can be had here; the message says why."""


# The programs


def place():
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(SOURCES.rglob("*")) if path.is_file()))
    return CACHE / digest.hexdigest()[:12]


def build(folder, work):
    """Two modules, as the versions that they want of a third are not the same."""
    environment = {**os.environ, "GOMODCACHE": f"{work}/modules", "GOCACHE": f"{work}/cache", "GOFLAGS": "-modcacherw -buildvcs=false"}
    for module, options in ((SOURCES, ["."]), (SOURCES / "containerd", ["-tags", TAGS, "tool"])):
        done = subprocess.run([GO, "build", "-trimpath", "-ldflags", "-s -w", "-o", f"{folder}/", *options], cwd=module,
                              env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=BUILD_SECONDS)
        if done.returncode:
            raise NoCluster(f"its programs cannot be built: {' | '.join(done.stdout.splitlines()[-5:])}")


def programs():
    """The folder of the programs, built first when they are missing."""
    if place().exists():
        return place()
    if not GO.exists():
        raise NoCluster("no Go to build it with; ./dev deps installs it")
    shutil.rmtree(CACHE, ignore_errors=True)
    CACHE.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as work:
        folder = pathlib.Path(work, "programs")
        folder.mkdir()
        build(folder, work)
        folder.rename(place())
    return place()


# Their settings


def containerd_settings(folder, programs):
    return f"""version = 3
root = "{folder}/data/containerd"
state = "{folder}/data/state"
[grpc]
address = "{folder}/data/containerd.sock"
[plugins."io.containerd.nri.v1.nri"]
disable = true
[plugins."io.containerd.internal.v1.opt"]
path = "{folder}/data/opt"
[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "docker.io/library/pause:latest"
[plugins."io.containerd.cri.v1.runtime"]
restrict_oom_score_adj = true
[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["{PLUGINS}"]
conf_dir = "{folder}/network"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
runtime_path = "{programs}/containerd-shim-runc-v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
BinaryName = "{programs}/runc"
"""


def network_settings():
    bridge = {"type": "bridge", "bridge": "pods", "isGateway": True,
              "ipam": {"type": "host-local", "ranges": [[{"subnet": PODS}]], "routes": [{"dst": "0.0.0.0/0"}]}}
    return {"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge]}


def kubelet_settings(folder, name):
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "containerRuntimeEndpoint": f"unix://{folder}/data/containerd.sock",
        "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},
        "cgroupDriver": "cgroupfs", "cgroupRoot": f"/{name}", "failCgroupV1": False, "failSwapOn": False,
        "protectKernelDefaults": True, "makeIPTablesUtilChains": False,
        "resolvConf": f"{folder}/resolv.conf", "volumePluginDir": f"{folder}/data/plugins",
        "evictionHard": {"memory.available": "1Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
    }


def proxy_settings(folder):
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": f"{folder}/kubeconfig"}, "hostnameOverride": "node", "mode": "nftables",
        "nftables": {"masqueradeAll": True},  # also of pods that call a pod on the same bridge
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
    }


def client_settings():
    return {
        "apiVersion": "v1", "kind": "Config", "current-context": "own",
        "clusters": [{"name": "own", "cluster": {"server": f"https://{ADDRESS}:6443", "insecure-skip-tls-verify": True}}],
        "users": [{"name": "admin", "user": {"token": TOKEN}}],
        "contexts": [{"name": "own", "context": {"cluster": "own", "user": "admin", "namespace": NAMESPACE}}],
    }


def hierarchies():
    """(kind, mount point) of those of cgroups."""
    mounts = [line.split() for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    kinds = [(words[words.index("-") + 1], pathlib.Path(words[4])) for words in mounts]
    return [(kind, point) for kind, point in kinds if kind in ("cgroup", "cgroup2")]


def setup(folder):
    """What the first process of the namespaces does. The kernel lets a pod mount /proc where one is whole: there is one
    beside that with the tunables. At the end it reaps."""
    lines = [f"mount -t tmpfs -o size={MOST_BYTES} data {folder}/data"]
    lines += [f"mount -t tmpfs own {place}" for place in OWN_PLACES]
    lines += [f"mkdir {folder}/data/proc", f"mount -t proc proc {folder}/data/proc"]
    for number, (name, value) in enumerate(TUNABLES.items()):
        lines += [f"echo {value} >{folder}/data/tunable{number}", f"mount --bind {folder}/data/tunable{number} /proc/sys/{name}"]
    lines += ["ip link set lo up", f"ip address add {ADDRESS}/32 dev lo", "echo 1 >/proc/sys/net/ipv4/ip_forward"]
    return "\n".join([*lines, f"touch {folder}/data/ready", "while sleep 1; do :; done"])


class Cluster:
    """A cluster of the programs in the folder PROGRAMS."""

    def __init__(self, programs):
        self.programs = programs
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pxd-", dir="/tmp"))
        self.folder.chmod(0o711)  # root of a pod is another user, whose files are below
        self.name = self.folder.name
        self.daemons = []
        self.first = None

    # Starting

    def __enter__(self):
        try:
            self._check()
            self._write_settings()
            self._make_cgroups()
            self._make_namespaces()
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    @staticmethod
    def _check():
        if os.geteuid() != 0:
            raise NoCluster("only root can start one")
        if missing := [name for name in ("bridge", "host-local", "loopback") if not (PLUGINS / name).exists()]:
            raise NoCluster(f"no {', '.join(missing)} in {PLUGINS}")

    def _write_settings(self):
        for name, value in {"network/pods.conflist": network_settings(), "kubelet.yaml": kubelet_settings(self.folder, self.name),
                            "proxy.yaml": proxy_settings(self.folder), "kubeconfig": client_settings()}.items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(json.dumps(value))
        (self.folder / "containerd.toml").write_text(containerd_settings(self.folder, self.programs))
        (self.folder / "tokens").write_text(f"{TOKEN},admin,admin,system:masters\n")
        (self.folder / "resolv.conf").write_text("")
        (self.folder / "data").mkdir()
        subprocess.run(["openssl", "genrsa", "-out", self.folder / "accounts.key", "2048"], check=True, capture_output=True)

    def _make_cgroups(self):
        """A kubelet wants its root to be there, in each hierarchy."""
        mounts = hierarchies()
        for kind, parent in mounts:
            if kind == "cgroup2":
                with contextlib.suppress(OSError):  # what is not enabled is missing below
                    names = (parent / "cgroup.controllers").read_text().split()
                    (parent / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in names))
            (parent / self.name).mkdir(exist_ok=True)
            for file in ("cpuset.cpus", "cpuset.mems") if kind == "cgroup" else ():
                if (parent / file).exists():
                    (parent / self.name / file).write_text((parent / file).read_text())
        if {kind for kind, _ in mounts} == {"cgroup2"}:
            enabled = (mounts[0][1] / self.name / "cgroup.controllers").read_text().split()
            if missing := CONTROLLERS - set(enabled):
                raise NoCluster(f"cgroups lack {', '.join(sorted(missing))}")

    def _make_namespaces(self):
        """KILL for the first process takes all others along."""
        command = ["unshare", "--mount", "--propagation", "private", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
                   "sh", "-ec", setup(self.folder)]
        self.first = engine.Daemon(self.folder / "setup.log", *command, end_by="KILL")
        self._wait(self.first, lambda: self._pid() and pathlib.Path(f"/proc/{self._pid()}/root{self.folder}/data/ready").exists())

        self._write_client()

    def _write_client(self):
        """A kubectl for launchers, which find it on PATH."""
        path = self.folder / "bin/kubectl"
        path.parent.mkdir()
        path.write_text(f'#!/bin/sh\nexec {shlex.join(self.client())} "$@"\n')
        path.chmod(0o755)

    def _pid(self):
        """Of the first process there."""
        return next((pid for pid in leftovers.processes() if leftovers.parent_and_state(pid)[0] == self.first.process.pid), None)

    def _start(self):
        self._daemon("etcd", "--data-dir", self.folder / "data/etcd")
        self._daemon("apiserver", "--etcd-servers", "http://127.0.0.1:2379", "--cert-dir", self.folder / "data/certificates",
                     "--bind-address", ADDRESS, "--advertise-address", ADDRESS, "--endpoint-reconciler-type", "none",
                     "--service-cluster-ip-range", SERVICES, "--service-account-issuer", "https://cluster.example.org",
                     "--service-account-key-file", self.folder / "accounts.key",
                     "--service-account-signing-key-file", self.folder / "accounts.key",
                     "--token-auth-file", self.folder / "tokens", "--authorization-mode", "AlwaysAllow",
                     "--kubelet-preferred-address-types", "InternalIP", ready=lambda: self.tries("get", "--raw", "/readyz"))
        settings = ["--kubeconfig", self.folder / "kubeconfig"]
        self._daemon("controllers", *settings, "--leader-elect=false", "--flex-volume-plugin-dir", self.folder / "data/plugins",
                     "--service-account-private-key-file", self.folder / "accounts.key")
        self._daemon("scheduler", *settings, "--leader-elect=false")
        socket = pathlib.Path(f"{self.root}{self.folder}/data/containerd.sock")
        self._daemon("containerd", "--config", self.folder / "containerd.toml", program="containerd", ready=socket.exists)
        self._daemon("kubelet", "--config", self.folder / "kubelet.yaml", *settings, "--hostname-override", "node", "--node-ip", ADDRESS)
        self._daemon("proxy", "--config", self.folder / "proxy.yaml")
        self._wait(self.daemons[-2], lambda: self.tries("wait", "--for=condition=Ready", "--timeout=5s", "node/node"))
        self.kubectl("create", "namespace", NAMESPACE)

    @property
    def root(self):
        """All files as its programs see them, which have mounts of their own."""
        return pathlib.Path(f"/proc/{self._pid()}/root")

    def _daemon(self, part, *options, program="cluster", ready=lambda: True):
        words = [self.programs / program, *([part] if program == "cluster" else []), *options]
        self.daemons.append(engine.Daemon(self.folder / f"{part}.log", *self.inside(*words)))
        self.daemons[-1].name = part
        self._wait(self.daemons[-1], ready)

    @staticmethod
    def _wait(daemon, ready):
        leftovers.until(lambda: ready() or daemon.process.poll() is not None, READY_SECONDS)
        assert ready(), f"{daemon.name} is not ready: {engine.last_lines(daemon.log, 12)}"

    # In the middle of a test

    def inside(self, *command):
        """COMMAND as one among its processes."""
        return ["nsenter", "--target", str(self._pid()), "--mount", "--net", "--pid", "--", *map(str, command)]

    def client(self):
        """The words before the arguments of kubectl. It becomes kubectl: whoever ends it ends that."""
        return ["nsenter", "--target", str(self._pid()), "--net", "--", str(self.programs / "cluster"), "kubectl",
                f"--kubeconfig={self.folder}/kubeconfig", f"--cache-dir={self.folder}/cache"]

    def tries(self, *arguments, given=None):
        """Whether kubectl with ARGUMENTS worked."""
        return self.run(*arguments, given=given).returncode == 0

    def run(self, *arguments, given=None):
        return subprocess.run([*self.client(), *map(str, arguments)], input=given or "", text=True, capture_output=True,
                              timeout=CALL_SECONDS)

    def kubectl(self, *arguments, given=None):
        """What kubectl with ARGUMENTS printed."""
        done = self.run(*arguments, given=given)
        assert done.returncode == 0, (done, self.logs())
        return done.stdout

    def load(self, archive):
        """Loads images from ARCHIVE, as `docker load` does."""
        socket = self.folder / "data/containerd.sock"
        done = subprocess.run(self.inside(self.programs / "ctr", "--address", socket, "--namespace", "k8s.io", "images", "import",
                                          archive), capture_output=True, text=True, timeout=CALL_SECONDS)
        assert done.returncode == 0, done

    def logs(self):
        return {daemon.name: engine.last_lines(daemon.log) for daemon in self.daemons}

    # Stopping

    def __exit__(self, *_):
        if self.first:
            for pid in [self._pid()] if self._pid() else []:
                os.kill(pid, signal.SIGKILL)
            self.first.end()
        for daemon in self.daemons:
            daemon.end()
        engine.remove_cgroups(self._cgroups())
        shutil.rmtree(self.folder)

    def _cgroups(self):
        return [path for _, parent in hierarchies() for path in parent.glob(self.name)]

    def remains(self):
        """What is left of it after its end."""
        return [*engine.processes_of(b"", self.folder), *self._cgroups(), *self.folder.parent.glob(self.name)]
