'''
tries = "to look ended, by closing its output, and to leave a child that has none"
held_by = ["pid namespace", "kill of the cgroup", "walk of the supervisor", "engine: a PID namespace"]
[outcome]
any = "exit 0: closed"
'''
import os
import time

print("closed", flush=True)
if os.fork() == 0:
    os.closerange(0, 4096)
    time.sleep(1000)
os.closerange(0, 4096)
os._exit(0)
