"""Ways to other machines, which all are this one: an ssh server of the tests' own, and a cluster of Slurm with two nodes
of one GPU each, which is none. Both are started as root on ports of the loopback, with keys of their own."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess

import leftovers
import ports

PATIENCE = 30  # seconds in which a service is up
SSHD = "/usr/sbin/sshd"
MUNGED = "/usr/sbin/munged"
NODES = {"n1": "/dev/zero", "n2": "/dev/full"}  # and the files of their GPUs, which nobody opens


def lack(*programs):
    """Why none can be started; "" if they can."""
    if os.geteuid() != 0:
        return "only root starts such services"
    return "; ".join(f"no {program}" for program in programs if not shutil.which(program))


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, timeout=PATIENCE, **more)


@contextlib.contextmanager
def ssh(folder):
    """The words before a command that ssh executes, where root may log in by the key in FOLDER."""
    for name in ("host", "user"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name)
    port = ports.free_port()
    pathlib.Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # it wants an empty directory there
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\n"
        f"PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPasswordAuthentication no\nMaxStartups 100\n")
    with open(folder / "log", "w") as log:
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", folder / "config"], stdin=subprocess.DEVNULL, stderr=log)
    try:
        assert leftovers.until(lambda: answers(port), PATIENCE), (folder / "log").read_text()
        yield ["ssh", "-T", "-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o",
               f"UserKnownHostsFile={folder}/known", "-o", "LogLevel=error", "-o", "IdentitiesOnly=yes", "-i", f"{folder}/user",
               "-p", str(port), "root@127.0.0.1"]
    finally:
        server.kill()
        server.wait()


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


SLURM = """
ClusterName=trial
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_min_interval=100000
ReturnToService=2
KillWait=2
GresTypes=gpu
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
SLURM_NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=100 Gres=gpu:1\n"


class Slurm:
    def __init__(self, folder):
        self.folder = folder
        self.variables = {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf"}
        self.launcher = ["env", f"SLURM_CONF={folder}/slurm.conf", "srun", "-n1", "--gres=gpu:1"]

    def write(self):
        host = socket.gethostname().partition(".")[0]
        names = [SLURM_NODE.format(name=name, host=host, port=ports.free_port()) for name in NODES]
        settings = SLURM.format(host=host, folder=self.folder, control=ports.free_port())
        (self.folder / "slurm.conf").write_text(settings + "".join(names))
        (self.folder / "gres.conf").write_text("".join(f"NodeName={name} Name=gpu File={device}\n"
                                                      for name, device in NODES.items()))
        for name in ("state", "munge"):
            (self.folder / name).mkdir(mode=0o755)
        (self.folder / "key").write_bytes(os.urandom(1024))
        (self.folder / "key").chmod(0o400)

    def start(self):
        munge = self.folder / "munge"
        run(MUNGED, "--force", f"--key-file={self.folder}/key", f"--socket={munge}/socket", f"--pid-file={munge}/pid",
            f"--log-file={munge}/log", f"--seed-file={munge}/seed", stdin=subprocess.DEVNULL)
        self.call("slurmctld", "-c")
        for name in NODES:
            self.call("slurmd", "-N", name)
        assert leftovers.until(lambda: self.call("sinfo", "-h", "-o", "%T").stdout.split() == ["idle"], PATIENCE), self.logs()

    def call(self, *command):
        return run(*command, env=self.variables, stdin=subprocess.DEVNULL)

    def queue(self):
        """The states of its jobs."""
        return self.call("squeue", "-h", "-o", "%T").stdout.split()

    def logs(self):
        return "".join(path.read_text() for path in self.folder.glob("*.log"))

    def end(self):
        with contextlib.suppress(subprocess.SubprocessError):
            self.call("scancel", "-u", "root")
        for path in [*self.folder.glob("slurm*.pid"), self.folder / "munge/pid"]:
            with contextlib.suppress(OSError, ValueError):
                pid = int(path.read_text())
                os.kill(pid, signal.SIGTERM)
                if not leftovers.until(lambda pid=pid: not leftovers.alive([pid]), PATIENCE):
                    os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def slurm(folder):
    cluster = Slurm(folder)
    cluster.write()
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.end()
