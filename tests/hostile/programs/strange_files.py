'''
tries = "to stall or mislead whoever opens what it leaves: FIFOs, sockets, links to everything"
held_by = ["by design: what a script leaves is not opened"]
[outcome]
any = "exit 0: left"
'''
import contextlib
import os
import socket

for name in ("fifo", "requirements.txt", "pyvenv.cfg", "pyexecd.json", "Dockerfile", ".dockerignore"):
    os.mkfifo(name)
with contextlib.suppress(PermissionError):  # a sandbox without a root of its own has none
    socket.socket(socket.AF_UNIX).bind("socket")
os.symlink("/", "root")
os.symlink("loop", "loop")
os.symlink("/dev/zero", "zero")
os.symlink("/proc/self/fd/0", "input")
os.symlink("../../../..", "up")
print("left")
