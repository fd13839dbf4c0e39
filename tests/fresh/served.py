"""A machine whose first process is systemd.

    with served.Served(base, folder) as computer:
        computer.run(["apt-get", ...], "/", print)       # as on any machine, before it boots
        with computer.booted():
            computer.typed("systemctl start nginx")      # what root types there; its output
"""

import contextlib
import pathlib
import signal
import subprocess
import sys

import boot_systemd
import machine

import leftovers  # found by machine.py

ADDRESS = "192.0.2.10"  # of nobody (RFC 5737)
BOOT = ["setpriv", "--pdeathsig", "KILL", "--", "unshare", "--mount", "--pid", "--ipc", "--uts", "--net",
        "--cgroup", "--fork", "--kill-child", "--propagation", "private", sys.executable, boot_systemd.__file__]
BOOT_SECONDS = 120
TYPING_SECONDS = 120
# What changes settings of the kernel, or gets packages.
MASKED = ["systemd-sysctl.service", "systemd-binfmt.service", "systemd-modules-load.service", "console-getty.service",
          "apt-daily.timer", "apt-daily-upgrade.timer"]


class Served(machine.Machine):
    first = None  # the id of systemd

    @contextlib.contextmanager
    def booted(self):
        """Boots it; it is off at the end."""
        self._mask()
        process = subprocess.Popen([*BOOT, str(self.root), ADDRESS], stdin=subprocess.DEVNULL, env=machine.ENVIRONMENT,
                                   start_new_session=True, preexec_fn=lambda: machine.join(self.cgroups))
        try:
            self._wait(process)
            yield
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()

    def _mask(self):
        (self.root / "usr/sbin/policy-rc.d").unlink()
        for unit in MASKED:
            (self.root / "etc/systemd/system" / unit).symlink_to("/dev/null")

    def _wait(self, process):
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        assert leftovers.until(children.read_text, BOOT_SECONDS)
        self.first = int(children.read_text())
        assert leftovers.until(self._is_up, BOOT_SECONDS), self.tried("systemctl --no-pager list-jobs").stdout

    def _is_up(self):
        return self.tried("systemctl is-system-running").stdout.strip() in ("running", "degraded")

    def tried(self, text, user="root", **more):
        """How TEXT, for a shell, ends; it is typed by USER."""
        words = ["sh", "-ec", text] if user == "root" else ["runuser", "-u", user, "--", "sh", "-ec", text]
        return subprocess.run(["nsenter", "--target", str(self.first), "--all", "--", *words], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TYPING_SECONDS, env={**machine.ENVIRONMENT, **more})

    def typed(self, text, user="root", **more):
        """What TEXT, for a shell, prints; it is typed by USER, and succeeds."""
        print(f"$ {text}", flush=True)
        done = self.tried(text, user, **more)
        print(done.stdout, end="", flush=True)
        assert done.returncode == 0, f"{text} ended with {done.returncode}"
        return done.stdout
