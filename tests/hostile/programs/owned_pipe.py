'''
tries = "to have the kernel kill others, by making them the owners of a pipe that signals"
held_by = ["pid namespace", "signal scope", "engine: a PID namespace"]
[outcome]
any = "exit 0: alive"
'''
import fcntl
import os
import signal

F_SETSIG = 10
read, write = os.pipe()
fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
fcntl.fcntl(read, F_SETSIG, signal.SIGKILL)
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) not in (1, os.getpid()):
        try:
            fcntl.fcntl(read, fcntl.F_SETOWN, int(name))
            os.write(write, b"x")
            os.read(read, 1)
        except OSError:
            pass
print("alive")
