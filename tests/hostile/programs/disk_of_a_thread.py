'''
tries = "to fill the disk by files without a name that only one thread has open"
held_by = ["limit on deleted files"]
[outcome]
any = "disk.*"
landlock = "-"  # the supervisor sees no other processes' files there
cgroup = "-"
'''
import ctypes
import os
import threading
import time

CLONE_FILES = 0x400


def fill():
    ctypes.CDLL(None).unshare(CLONE_FILES)
    for number in range(6):
        fd = os.open("gone", os.O_CREAT | os.O_RDWR)
        os.unlink("gone")
        os.write(fd, b"x" * (8 << 20))
    print("written", flush=True)
    time.sleep(15)


thread = threading.Thread(target=fill)
thread.start()
thread.join()
