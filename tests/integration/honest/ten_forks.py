"""os.fork: ten children that each have a child, all waited for; zombies, orphans, sessions, groups."""
import os
import signal
import time

children = []
for number in range(10):
    pid = os.fork()
    if pid == 0:
        inner = os.fork()
        if inner == 0:
            os._exit(number)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) + 100)
    children.append(pid)
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children])
reader, writer = os.pipe()
pid = os.fork()
if pid == 0:
    os.setsid()
    if os.fork() == 0:
        while os.getppid() == os.getpgid(0):  # until its parent is gone
            time.sleep(0.001)
        os.write(writer, b"orphan")
        os._exit(0)
    os._exit(0)
os.waitpid(pid, 0)
print(os.read(reader, 10))
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    os.write(writer, b"x")
    signal.pause()
os.read(reader, 1)
os.killpg(pid, signal.SIGKILL)
print(os.waitpid(pid, 0)[1], os.getpgrp() != pid, os.getsid(0) > 0)
try:
    os.wait()
except ChildProcessError as error:
    print(error.strerror)
