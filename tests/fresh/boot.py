"""The first process of a machine: mounts what a machine has, makes ROOT the root, runs COMMAND in FOLDER.

    boot.py ROOT SHARED FOLDER COMMAND...

It runs in namespaces of its own (machine.py). SHARED is a folder of this machine that can be read
beside FOLDER, or nothing. The root is exchanged with pivot_root: below a mere chroot the kernel
refuses user namespaces.
"""

import os
import pathlib
import subprocess
import sys

# The shell stays, as whoever ends orphans.
COMMAND = 'umount --lazy /mnt && cd "$1" && shift && "$@"; exit $?'


def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True)


def cgroup_mounts():
    """(mount point, kind, options) of every hierarchy of control groups."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split()[:3]
        if kind in ("cgroup", "cgroup2"):
            yield pathlib.Path(before.split()[4]), kind, options


def mount_cgroups(root):
    mounts = list(cgroup_mounts())
    mount("-t", "tmpfs", "-o", "mode=755", "cgroups", root / "sys/fs/cgroup")
    for point, kind, options in mounts:
        inside = root / str(point).lstrip("/")
        inside.mkdir(parents=True, exist_ok=True)
        mount("-t", kind, "-o", options, kind, inside)


def mount_terminals(root):
    """Terminals and shared memory are the machine's own, other devices are not."""
    mount("--bind", "/dev", root / "dev")
    mount("-t", "tmpfs", "-o", "mode=1777", "memory", root / "dev/shm")
    mount("-t", "devpts", "-o", "newinstance,ptmxmode=666,mode=620,gid=5", "pts", root / "dev/pts")
    mount("--bind", root / "dev/pts/ptmx", root / "dev/ptmx")


def mount_shared(shared, beside):
    place = beside.parent / "shared"
    place.mkdir(exist_ok=True)
    mount("--bind", shared, place)
    mount("-o", "remount,bind,ro", place)


def main(root, shared, folder, *command):
    root = pathlib.Path(root)
    mount("--bind", root, root)
    mount("-t", "proc", "proc", root / "proc")
    mount("-t", "sysfs", "sysfs", root / "sys")
    mount("-t", "tmpfs", "-o", "mode=755", "run", root / "run")
    mount_cgroups(root)
    mount_terminals(root)
    if shared:
        mount_shared(shared, root / folder.lstrip("/"))
    os.chdir(root)
    subprocess.run(["pivot_root", ".", "mnt"], check=True)
    os.chroot(".")
    os.execv("/bin/sh", ["sh", "-c", COMMAND, "sh", folder, *command])


if __name__ == "__main__":
    main(*sys.argv[1:])
