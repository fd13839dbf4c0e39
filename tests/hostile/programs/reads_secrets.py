'''
tries = "to read environment and memory of the server and the supervisor"
held_by = ["undumpable supervisor"]
[outcome]
any = "exit 0: 0"
'''
import os

opened = 0
for name in os.listdir("/proc"):
    try:
        if name.isdigit() and open(f"/proc/{name}/comm").read().startswith("pyexecd"):
            for what in ("environ", "mem", "maps", "auxv"):
                try:
                    open(f"/proc/{name}/{what}", "rb").read(1)
                    opened += 1
                except OSError:
                    pass
    except OSError:
        pass
print(opened)
