'''
tries = "to leave System V shared memory, semaphores and messages behind"
held_by = ["System V objects of its own", "engine: an IPC namespace"]
[outcome]
any = "exit 0: left"
landlock = "-"
cgroup = "-"  # without namespaces they stay, as docs/security.md says
'''
import ctypes
import os

IPC_CREAT = 0o1000
libc = ctypes.CDLL(None)
key = int(os.environ["PYEXECD_TEST_MARK"][:7], 16)
libc.shmget(key, 4096, IPC_CREAT | 0o600)
libc.semget(key, 1, IPC_CREAT | 0o600)
libc.msgget(key, IPC_CREAT | 0o600)
print("left")
