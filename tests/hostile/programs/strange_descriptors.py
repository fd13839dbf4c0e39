'''
tries = "to find a descriptor of the server or of its supervisor"
held_by = ["closed descriptors"]
[outcome]
any = "exit 0: none"
'''
import os
import stat

found = []
for fd in range(3, 1024):
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):  # the script itself is open
            found.append(fd)
    except OSError:
        pass
if stat.S_ISCHR(os.fstat(0).st_mode) and os.read(0, 1) == b"":
    print(*found or ["none"])
