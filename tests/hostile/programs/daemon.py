'''
tries = "to leave a daemon behind that was forked twice"
held_by = ["pid namespace", "kill of the cgroup", "walk of the supervisor", "engine: a PID namespace"]
[outcome]
any = "exit 0: left"
'''
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        time.sleep(1000)
    os._exit(0)
os.wait()
print("left")
