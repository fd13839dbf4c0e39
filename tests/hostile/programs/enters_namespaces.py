'''
tries = "to enter the namespaces of other processes"
held_by = ["no capabilities"]
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
