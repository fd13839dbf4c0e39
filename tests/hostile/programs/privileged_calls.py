'''
tries = "what only root may: mounts, devices, names, clocks, modules, reboots"
held_by = ["no capabilities", "kernel: no capability outlives the exec of a user"]
[outcome]
any = "exit 0: refused"
'''
import ctypes
import os
import stat
import tempfile

libc = ctypes.CDLL(None, use_errno=True)
here = tempfile.mkdtemp(dir=".").encode()
succeeded = []
CALLS = {
    "mount": (165, b"none", here, b"tmpfs", 0, 0),
    "umount": (166, b"/proc", 2),
    "remount": (165, b"none", b"/", 0, 32 | 4096, 0),
    "pivot_root": (155, here, here),
    "chroot": (161, here),
    "sethostname": (170, b"owned", 5),
    "settimeofday": (164, (ctypes.c_long * 2)(0, 0), 0),
    "init_module": (175, b"x", 1, b""),
    "swapoff": (168, b"/none"),
    "syslog": (103, 5, 0, 0),
    "iopl": (172, 3),
    "acct": (163, here),
    "open_by_handle_at": (304, -100, (ctypes.c_int * 8)(8, 1), 0),
    "setns": (308, -1, 0),
}
for name, (number, *arguments) in CALLS.items():
    if libc.syscall(number, *arguments) >= 0:
        succeeded.append(name)
try:
    os.mknod("device", stat.S_IFBLK | 0o600, os.makedev(8, 0))
    succeeded.append("mknod")
except OSError:
    pass
try:
    os.setgroups([0])
    succeeded.append("setgroups")
except OSError:
    pass
try:
    os.nice(-20)
    succeeded.append("nice")
except OSError:
    pass
print(*succeeded or ["refused"])
