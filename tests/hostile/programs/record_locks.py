'''
tries = "to lock the directory and everything in it, so that nobody else may"
held_by = ["kernel: locks end with their holder"]
[outcome]
any = "exit 0: locked"
'''
import fcntl
import os

for path in (".", "script.py"):
    fd = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass
print("locked")
