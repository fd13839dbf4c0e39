'''
tries = "to take memory that counts as a file's, in memfds that nobody has mapped"
held_by = ["limit on memory"]
[outcome]
any = "memory.*|exit 1.*|SIGKILL.*"
landlock = "-"  # nothing counts it there, as the receipt says
'''
import os
import time

block = b"x" * (1 << 20)
taken = 0
files = []
while taken < 512:
    if taken % 32 == 0:
        files.append(os.memfd_create("hidden"))
    os.write(files[-1], block)
    taken += 1
time.sleep(1)  # long enough to be seen
print("taken", taken)
