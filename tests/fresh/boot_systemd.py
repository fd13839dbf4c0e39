"""The first process of a machine with services: mounts what systemd finds after a boot, makes ROOT the root, and
becomes systemd.

    boot_systemd.py ROOT ADDRESS

It runs in namespaces of its own (served.py). The network has nothing but a loopback, which has ADDRESS, too. Nothing
covers a part of /proc: sandboxes could not have a /proc of their own. So the services that would change settings of
the kernel, which are those of this machine, are masked in the root.
"""

import os
import pathlib
import subprocess
import sys

import boot

DEVICES = ["null", "zero", "full", "random", "urandom", "tty"]
SYSTEMD = ["/lib/systemd/systemd", "--unit=basic.target"]


def make_devices(root):
    boot.mount("-t", "tmpfs", "-o", "mode=755", "devices", root / "dev")
    for name in DEVICES:
        status = os.stat(f"/dev/{name}")
        os.mknod(root / "dev" / name, status.st_mode, status.st_rdev)
        os.chmod(root / "dev" / name, 0o666)
    for name in ("shm", "pts"):
        (root / "dev" / name).mkdir()
    boot.mount("-t", "tmpfs", "-o", "mode=1777", "memory", root / "dev/shm")
    boot.mount("-t", "devpts", "-o", "newinstance,ptmxmode=666,mode=620,gid=5", "pts", root / "dev/pts")
    (root / "dev/ptmx").symlink_to("pts/ptmx")
    (root / "dev/fd").symlink_to("/proc/self/fd")


def main(root, address):
    root = pathlib.Path(root)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "address", "add", f"{address}/32", "dev", "lo"], check=True)
    boot.mount("--bind", root, root)
    boot.mount("-t", "proc", "proc", root / "proc")
    boot.mount("-t", "sysfs", "sysfs", root / "sys")
    boot.mount("-t", "cgroup2", "cgroup2", root / "sys/fs/cgroup")
    boot.mount("-t", "tmpfs", "-o", "mode=755", "run", root / "run")
    make_devices(root)
    os.chdir(root)
    subprocess.run(["pivot_root", ".", "mnt"], check=True)
    os.chroot(".")
    subprocess.run(["umount", "--lazy", "/mnt"], check=True)
    os.execve(SYSTEMD[0], SYSTEMD, {"container": "other", "PATH": os.environ["PATH"], "LANG": "C.UTF-8"})


if __name__ == "__main__":
    main(*sys.argv[1:])
