'''
tries = "to use up the pages that pipes of its user may have, which the server's pipes share"
held_by = ["kernel: a pipe works with one page"]
[outcome]
any = "exit 0: filled"
'''
import fcntl
import os

F_SETPIPE_SZ = 1031
pipes = []
try:
    for _ in range(400):
        read, write = os.pipe()
        pipes.append((read, write))
        try:
            fcntl.fcntl(write, F_SETPIPE_SZ, 1 << 20)
        except OSError:
            pass
except OSError:
    pass
print("filled")
