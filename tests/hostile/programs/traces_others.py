'''
tries = "to trace its supervisor and every process that it sees"
held_by = ["undumpable supervisor"]
[outcome]
any = "exit 0: 0"
'''
import ctypes
import os

PTRACE_SEIZE = 0x4206
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
others = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {os.getpid()}
ours = []
for pid in sorted(others):
    command = open(f"/proc/{pid}/comm").read().strip() if os.path.exists(f"/proc/{pid}/comm") else ""
    if command.startswith("pyexecd") and libc.ptrace(PTRACE_SEIZE, pid, None, None) == 0:
        ours.append(command)
print(len(ours))
