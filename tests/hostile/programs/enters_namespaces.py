'''
tries = "to enter the namespaces of other processes"
held_by = [
    "undumpable supervisor",
    "engine: no capability for it",
    "kernel: no capability outlives the exec of a user",
]
[outcome]
any = "exit 0: 0"
'''
import ctypes
import os

libc = ctypes.CDLL(None)
entered = 0
for pid in (1, os.getppid()):
    for kind in ("mnt", "pid", "net", "ipc", "uts", "cgroup"):
        try:
            fd = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        except OSError:
            continue
        entered += libc.setns(fd, 0) == 0
print(entered)
