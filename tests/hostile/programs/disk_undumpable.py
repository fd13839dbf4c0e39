'''
tries = "to fill the disk by files without a name in a process that shows nobody what it has open"
held_by = ["limit on deleted files"]
[outcome]
any = "disk.*"
docker = "-"  # the init of a container has no capability to see them, as docs/security.md says
landlock = "-"  # the supervisor sees no other processes' files there
cgroup = "-"
'''
import ctypes
import os
import time

PR_SET_DUMPABLE = 4

ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
for number in range(6):
    fd = os.open("gone", os.O_CREAT | os.O_RDWR)
    os.unlink("gone")
    os.write(fd, b"x" * (8 << 20))
print("written", flush=True)
time.sleep(15)
