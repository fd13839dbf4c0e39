'''
tries = "to take more memory than it may by taking a little in each of many processes"
held_by = ["limit on memory"]
[outcome]
any = "memory.*"
"user namespace" = "-"  # without a cgroup the limit holds for each process, as the receipt says
landlock = "-"
'''
import os

for _ in range(16):
    if os.fork() == 0:
        taken = bytearray(32 << 20)
        os._exit(0 if taken else 1)
        break
statuses = [os.wait()[1] for _ in range(16)]
taken = [os.fork() or bytearray(24 << 20) for _ in range(4)]
print("taken", len(taken))
