'''
tries = "to kill its supervisor, and so whoever would end it"
held_by = ["pid namespace", "signal scope", "engine: a PID namespace"]
[outcome]
any = "exit 0: parent"
'''
import os
import signal
import time

for number in (signal.SIGSTOP, signal.SIGKILL):
    try:
        os.kill(os.getppid(), number)
    except OSError:
        pass
time.sleep(0.1)
print("parent" if os.getppid() > 0 else "orphan")
