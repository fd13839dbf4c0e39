'''
tries = "to leave dead orphans to whoever adopts them"
held_by = ["reaping", "kernel: the dead of a PID namespace go with it"]
[outcome]
any = "exit 0: 48"
'''
import os

for _ in range(24):
    if os.fork() == 0:
        if os.fork():
            os._exit(0)
        os._exit(0)
print(48)
