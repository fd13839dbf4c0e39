'''
tries = "to use up the user namespaces of its user, without which others are held less well"
held_by = ["no further user namespaces", "profile of system calls", "level: no user namespaces"]
[outcome]
any = "exit 0: 0"
'''
import ctypes
import os

NEW_USER = 0x10000000
libc = ctypes.CDLL(None)
made = 0
for _ in range(20):
    if os.fork() == 0:
        os._exit(libc.unshare(NEW_USER) == 0)
    made += os.wait()[1] != 0
print(made)
