'''
tries = "what no script in a container needs: io_uring, tracing, keys, sockets to other places"
held_by = ["profile of system calls"]
[outcome]
any = "-"  # only containers filter system calls
docker = "exit 0: none"
'''
import ctypes
import socket

libc = ctypes.CDLL(None, use_errno=True)
reached = []
CALLS = {"io_uring_setup": (425, 4, ctypes.create_string_buffer(256)), "ptrace": (101, 0, 0, 0, 0),
         "add_key": (248, b"user", b"x", b"x", 1, -4), "keyctl": (250, 0, -4, 0),
         "bpf": (321, 0, 0, 0), "userfaultfd": (323, 0), "perf_event_open": (298, 0, 0, -1, -1, 0),
         "process_vm_readv": (310, 1, 0, 0, 0, 0, 0), "unshare": (272, 0x10000000), "kcmp": (312, 1, 1, 0, 0, 0)}
for name, (number, *arguments) in CALLS.items():
    if libc.syscall(number, *arguments) >= 0:
        reached.append(name)
for family in (socket.AF_VSOCK, socket.AF_PACKET, socket.AF_ALG):
    try:
        socket.socket(family, socket.SOCK_RAW if family == socket.AF_PACKET else socket.SOCK_STREAM)
        reached.append(family.name)
    except OSError:
        pass
print(*reached or ["none"])
