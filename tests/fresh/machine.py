"""A machine with a Debian of its own, which is gone at the end of a `with`.

    with Machine(base, folder) as machine:
        status = machine.run(["./dev", "test"], "/srv/pyexecd", print)

Each command finds the machine as if it had just been booted: mounts, processes and control groups
are the command's own and end with it. The network is the one of the machine that all this runs on,
so no service is started.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("tests", "tests/docker", "tests/integration"):
    sys.path.insert(0, str(ROOT / folder))

import boot  # noqa: E402
import engine  # noqa: E402

END_SECONDS = 60
BOOT = ["setpriv", "--pdeathsig", "KILL", "--", "unshare", "--mount", "--pid", "--ipc", "--uts",
        "--cgroup", "--fork", "--kill-child", "--propagation", "private", sys.executable,
        boot.__file__]
PROGRAMS = engine.PROGRAMS
HOME = "/root"
ENVIRONMENT = {"PATH": PROGRAMS, "HOME": HOME, "LANG": "C.UTF-8"}
NO_SERVICES = "#!/bin/sh\nexit 101\n"


def own_cgroup(kind, options):
    """The path of this process in the hierarchy that is mounted with OPTIONS."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if kind == "cgroup2" and not controllers:
            return path
        if kind == "cgroup" and controllers and \
                set(controllers.split(",")) <= set(options.split(",")):
            return path
    return "/"


def make_cgroup(parent, name):
    """The control group NAME in PARENT."""
    cgroup = parent / name
    cgroup.mkdir()
    for setting in ("cpuset.cpus", "cpuset.mems"):  # version 1: nothing can join without them
        if (parent / setting).exists() and not (parent / "cgroup.controllers").exists():
            (cgroup / setting).write_text((parent / setting).read_text())
    return cgroup


def join(cgroups):
    for cgroup in cgroups:
        (cgroup / "cgroup.procs").write_text("0")


class Machine:
    """A machine whose root is unpacked from the tar BASE, below FOLDER."""

    def __init__(self, base, folder):
        self.base = base
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="root-", dir=folder))
        self.cgroups = []

    def __enter__(self):
        try:
            self.root.chmod(0o755)
            subprocess.run(["tar", "--extract", "--file", self.base, "--directory", self.root,
                            "--numeric-owner"], check=True)
            services = self.root / "usr/sbin/policy-rc.d"
            services.write_text(NO_SERVICES)
            services.chmod(0o755)
            for point, kind, options in boot.cgroup_mounts():
                parent = point / own_cgroup(kind, options).lstrip("/")
                self.cgroups.append(make_cgroup(parent, f"pyexecd-fresh-{self.root.name}"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def command(self, command, folder, shared=None):
        """The command that runs COMMAND in FOLDER of the machine, whoever executes it."""
        return [*BOOT, str(self.root), str(shared or ""), folder, *command]

    def run(self, command, folder, on_line, environment=None, shared=None):
        """Runs COMMAND in FOLDER, beside which the folder SHARED can be read; its status.
        ON_LINE gets every line that it prints."""
        process = subprocess.Popen(
            self.command(command, folder, shared), text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**ENVIRONMENT, **(environment or {})}, start_new_session=True,
            preexec_fn=lambda: join(self.cgroups))
        try:
            for line in process.stdout:
                on_line(line)
            return process.wait()
        finally:
            self._end(process)

    def _end(self, process):
        """Interrupts what still runs, which may then clean up, and kills what is left."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=END_SECONDS)
            process.kill()
        process.wait()

    def __exit__(self, *_):
        engine.remove_cgroups(self.cgroups)
        shutil.rmtree(self.root, ignore_errors=True)
