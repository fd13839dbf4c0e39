'''
tries = "to hide a child from a supervisor that reads /proc, by making it not dumpable"
held_by = ["pid namespace", "kill of the cgroup", "walk of the supervisor", "engine: a PID namespace"]
[outcome]
any = "exit 0: hidden"
'''
import ctypes
import os
import time

PR_SET_DUMPABLE = 4
ready, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if os.fork() == 0:
        os.write(tell, b"x")
        time.sleep(1000)
    time.sleep(1000)
os.read(ready, 1)
print("hidden")
