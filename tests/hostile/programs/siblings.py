'''
tries = "to have children that are not its own but those of its parent, which the supervisor has not started"
held_by = ["pid namespace", "kill of the cgroup", "walk of the supervisor", "engine: a PID namespace"]
[outcome]
any = "exit 0: sibling"
'''
import ctypes
import signal
import time

CLONE = 56
CLONE_PARENT = 0x8000
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(CLONE, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0) == 0:
    time.sleep(1000)
time.sleep(0.05)
print("sibling")
