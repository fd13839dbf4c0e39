'''
tries = "to outrun whoever looks for it: each process ends as soon as it has a child"
held_by = ["pid namespace", "kill of the cgroup", "walk of the supervisor", "engine: a PID namespace"]
[outcome]
any = "exit 0: running"
'''
import os
import time

if os.fork() == 0:
    os.setsid()
    while True:
        if os.fork():
            os._exit(0)
time.sleep(0.2)
print("running")
