"""Both commands of the README on machines that have nothing but Debian; `./dev fresh` runs it.

    fresh.py [12|13|sid] [PATTERN]

Debian 12 and 13, unless one is named. Each gets a machine of its own (machine.py) with a fresh clone
of what is committed here. What debootstrap makes is kept in .deps/fresh; where packages come from is
taken from this machine (host.py). PATTERN is for `./dev test`.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import host
import machine
import roots

import debian  # found by machine.py

ROOT = machine.ROOT
CLONE = f"{machine.HOME}/pyexecd"
INTERRUPTS = [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]
NEEDED = ["debootstrap", "git", "tar", "setpriv", "unshare", "pivot_root"]


def clone(root):
    subprocess.run(["git", "clone", "--quiet", f"file://{ROOT}", root / CLONE.lstrip("/")],
                   check=True)


class Step:
    """One command on one machine, and what became of it."""

    def __init__(self, release, command):
        self.release = release
        self.command = command
        self.last_line = ""
        self.status = None
        self.seconds = 0

    def on_line(self, line):
        print(line, end="", flush=True)
        self.last_line = line.strip() or self.last_line

    def run(self, computer):
        print(f"\n==== Debian {self.release}: {' '.join(self.command)}", flush=True)
        shared = ROOT.parent / "shared"
        begun = time.monotonic()
        self.status = computer.run(self.command, CLONE, self.on_line, host.environment(),
                                   shared.resolve() if shared.is_dir() else None)
        self.seconds = time.monotonic() - begun
        return self.status == 0

    def __str__(self):
        outcome = "passed" if self.status == 0 else f"failed ({self.status})"
        return (f"Debian {self.release}  {' '.join(self.command):<12}  {outcome:<11}"
                f" {self.seconds:5.0f} s  {self.last_line}")


def steps_on(release, pattern):
    """Both commands on a machine with Debian RELEASE, the second only when the first passes."""
    suite = roots.RELEASES.get(release, release)
    with machine.Machine(roots.base(suite), roots.CACHE) as computer:
        host.carry(suite, computer.root)
        clone(computer.root)
        for command in (["./dev", "run"], ["./dev", "test", *pattern]):
            step = Step(release, command)
            passed = step.run(computer)
            yield step
            if not passed:
                return


def check():
    """Says what is missing here, if anything is."""
    if os.geteuid() != 0:
        sys.exit("fresh: only root can make a machine")
    missing = [name for name in NEEDED if not shutil.which(name, path=machine.PROGRAMS)]
    if missing:
        sys.exit(f"fresh: not found: {' '.join(missing)}; ./dev deps installs them")
    if subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=ROOT).returncode != 0:
        print("fresh: what is not committed is left out", file=sys.stderr)


def interrupted(number, _):
    """Ends everything in order, once."""
    for each in INTERRUPTS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def main(arguments):
    is_named = arguments and arguments[0] in (*roots.RELEASES, host.UNSTABLE)
    releases = [arguments.pop(0)] if is_named else list(roots.RELEASES)
    check()
    for number in INTERRUPTS:
        signal.signal(number, interrupted)
    steps = [step for release in releases for step in steps_on(release, arguments)]
    print("\n==== fresh machines")
    print(*steps, sep="\n")
    return any(step.status != 0 for step in steps)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except debian.NoDebian as reason:
        sys.exit(f"fresh: {reason}")
