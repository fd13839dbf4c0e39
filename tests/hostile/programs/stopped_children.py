'''
tries = "to leave children that are stopped and so do not die of most signals"
held_by = ["pid namespace", "kill of the cgroup", "walk of the supervisor", "engine: a PID namespace"]
[outcome]
any = "exit 0: stopped"
'''
import os
import signal
import time

for _ in range(3):
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(1000)
    os.waitpid(child, os.WUNTRACED)
print("stopped")
