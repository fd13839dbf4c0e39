'''
tries = "to trace its supervisor and the server"
held_by = ["undumpable supervisor", "kernel: no capability outlives the exec of a user"]
[outcome]
any = "exit 0: 0"
'''
import ctypes
import os

PTRACE_SEIZE = 0x4206
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
supervisor = os.getppid()
stat = open(f"/proc/{supervisor}/stat").read()
server = int(stat.rpartition(") ")[2].split()[1])
print(sum(libc.ptrace(PTRACE_SEIZE, pid, None, None) == 0 for pid in (supervisor, server) if pid))
