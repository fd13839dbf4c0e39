'''
tries = "to leave children that are dead and not waited for"
held_by = ["reaping", "kernel: the dead of a PID namespace go with it"]
[outcome]
any = "exit 0: 30"
'''
import os

for _ in range(30):
    if os.fork() == 0:
        os._exit(0)
print(30)
