'''
tries = "to kill each process that /proc shows, one by one"
held_by = ["pid namespace", "signal scope", "engine: a PID namespace"]
[outcome]
any = "exit 0: alive"
'''
import os
import signal

for name in os.listdir("/proc"):
    if name.isdigit() and int(name) not in (1, os.getpid()):
        try:
            os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass
print("alive")
