'''
tries = "to fill the disk by files that have no name"
held_by = ["limit on deleted files"]
[outcome]
any = "disk.*"
landlock = "-"  # the supervisor sees no other processes' files there
cgroup = "-"
'''
import os
import time

for number in range(6):
    fd = os.open("gone", os.O_CREAT | os.O_RDWR)
    os.unlink("gone")
    os.write(fd, b"x" * (8 << 20))
print("written", flush=True)
time.sleep(15)
