'''
tries = "to be in a wait that most signals do not end: that of vfork for its child"
held_by = ["deadline"]
[outcome]
any = "timeout: waiting"
'''
import ctypes
import signal

CLONE, PAUSE = 56, 34
CLONE_VM, CLONE_VFORK = 0x100, 0x4000
libc = ctypes.CDLL(None)
print("waiting", flush=True)
if libc.syscall(CLONE, CLONE_VM | CLONE_VFORK | signal.SIGCHLD, 0, 0, 0, 0) == 0:
    while True:
        libc.syscall(PAUSE)
