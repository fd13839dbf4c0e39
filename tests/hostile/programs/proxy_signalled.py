'''
tries = "to trace and to kill the proxy of its run, whatever else that may be"
held_by = ["pid namespace"]
limit = 120
[outcome]
any = "-"  # it has no proxy
"sandbox hosts" = "exit 0: held"
'''
import ctypes
import os
import signal
import socket

PTRACE_SEIZE = 0x4206
libc = ctypes.CDLL(None)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
done = []
for pid in range(2, 1 << 16):
    if pid == os.getpid():
        continue
    try:
        if libc.ptrace(PTRACE_SEIZE, pid, None, None) == 0:
            done.append(f"{pid} traced")
        os.kill(pid, signal.SIGKILL)
        done.append(f"{pid} killed")
    except OSError:
        pass
with socket.create_connection(("127.0.0.1", 3128)) as connection:
    connection.sendall(f"CONNECT {os.environ['PYEXECD_TEST_LISTED']} HTTP/1.1\r\n\r\n".encode())
    if b" 200 " not in connection.recv(100):
        done.append("it serves nobody")
print(done or "held")
