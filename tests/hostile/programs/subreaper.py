'''
tries = "to adopt its orphans itself, so that they hang below a process that the supervisor does not wait for"
held_by = ["pid namespace", "kill of the cgroup", "walk of the supervisor", "engine: a PID namespace"]
[outcome]
any = "exit 0: adopted"
'''
import ctypes
import os
import time

PR_SET_CHILD_SUBREAPER = 36
ready, tell = os.pipe()
if os.fork() == 0:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.fork() == 0:
        if os.fork() == 0:
            os.write(tell, b"x")
            time.sleep(1000)
        os._exit(0)
    time.sleep(1000)
os.read(ready, 1)
print("adopted")
