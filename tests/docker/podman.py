"""Podman's service for the Docker API, with images and containers of its own.

Stands in for `engine.Engine` where a test takes either: `api`, `environment`, `shares_layers`.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import engine
import leftovers


class Podman:
    shares_layers = False  # what it loads has to be whole

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pxp-", dir="/tmp"))
        self.name = self.folder.name
        self.socket = self.folder / "podman.sock"
        self.api = engine.Api(self.socket)
        self.environment = {"DOCKER_HOST": f"unix://{self.socket}"}
        self.service = None
        self.cgroup_parents = set(self._cgroup_parents())

    def __enter__(self):
        try:
            if os.geteuid() != 0:
                raise engine.NoEngine("only root can start podman's service here")
            if not shutil.which("podman"):
                raise engine.NoEngine("no podman; ./dev deps installs it")
            engine.make_in_memory(self.folder / "root")
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        """Starts the service, again if it was killed; with plain copies where overlays are refused.

        runc, because crun refuses control groups of both versions at once, and no default limits,
        because podman's own are above those of a machine without CAP_SYS_RESOURCE.
        """
        configuration = self.folder / "containers.conf"
        configuration.write_text("[containers]\ndefault_ulimits = []\n"
                                 "[engine]\nexit_command_delay = 1\n")  # what stays of an exec
        storage = "overlay" if self._works_with("overlay") else "vfs"
        self.service = engine.Daemon(
            self.folder / "log", *self._podman(storage), "--log-level", "info", "system", "service",
            "--time", "0", f"unix://{self.socket}")
        self.service.wait_until(self.api.answers)

    def _podman(self, storage):
        return ["env", f"CONTAINERS_CONF={self.folder}/containers.conf", "podman",
                "--root", self.folder / "root", "--runroot", self.folder / "run",
                "--tmpdir", self.folder / "tmp", "--network-config-dir", self.folder / "networks",
                "--storage-driver", storage, "--runtime", "runc", "--cgroup-manager", "cgroupfs",
                "--events-backend", "file"]

    def _works_with(self, storage):
        done = subprocess.run([*map(str, self._podman(storage)), "info"], capture_output=True)
        if done.returncode != 0:
            shutil.rmtree(self.folder / "root", ignore_errors=True)
        return done.returncode == 0

    def kill(self):
        self.service.process.kill()
        self.service.process.wait()

    def is_running(self):
        return self.service.process.poll() is None

    def shims(self):
        """The processes that stand beside its containers."""
        return engine.processes_of(b"conmon", self.folder)

    def cgroups(self):
        """Control groups of its containers; their folder is that of every Podman on the machine."""
        log = leftovers.read(self.folder / "tmp" / "events" / "events.log").decode()
        its_own = {f"libpod-{name}" for name in re.findall(r'"ID":"([0-9a-f]{64})"', log)}
        return [path for parent in self._cgroup_parents() for path in parent.iterdir()
                if path.name in its_own]

    def _cgroup_parents(self):
        return [*leftovers.CGROUPS.glob("*/libpod_parent"),
                *leftovers.CGROUPS.glob("libpod_parent")]

    @staticmethod
    def _is_unused(parent):
        """True for a folder without containers; the group of Podman's monitors stays."""
        return {path.name for path in parent.iterdir() if path.is_dir()} <= {"conmon"}

    def __exit__(self, *_):
        if self.service:
            self.service.end()
        for pid in self.shims():
            os.kill(pid, signal.SIGKILL)
        engine.unmount_all(self.folder)
        engine.remove_cgroups(self.cgroups())
        engine.remove_cgroups([parent for parent in self._cgroup_parents()
                               if parent not in self.cgroup_parents and self._is_unused(parent)])
        shutil.rmtree(self.folder)
