'''
tries = "to read environment and memory of the server and the supervisor"
held_by = ["undumpable supervisor", "kernel: no capability outlives the exec of a user"]
[outcome]
any = "exit 0: 0"
'''
import os

# Other servers may be about: these two are its own.
supervisor = os.getppid()
stat = open(f"/proc/{supervisor}/stat").read()
server = int(stat.rpartition(") ")[2].split()[1])
opened = 0
for pid in (supervisor, server):
    for what in ("environ", "mem", "maps", "auxv"):
        try:
            open(f"/proc/{pid}/{what}", "rb").read(1)
            opened += 1
        except OSError:
            pass
print(opened)
