'''
tries = "to reach by other protocols what TCP and UDP do not, or code of the kernel that nobody else uses"
held_by = ["listed protocols", "profile of system calls"]
[outcome]
any = "-"  # nothing but a sandbox keeps it from that
sandbox = "exit 0: none"
"sandbox landlock" = "exit 0: none"
docker = "exit 0: none"
'''
import ctypes
import errno
import socket

STREAM, DATAGRAM, RAW, SEQUENCE, CONGESTION = 1, 2, 3, 5, 6
PROTOCOLS = {"MPTCP": (STREAM, 262), "UDP-Lite": (DATAGRAM, 136), "SCTP": (STREAM, 132), "SCTP, unnamed": (SEQUENCE, 0),
             "DCCP": (CONGESTION, 33), "DCCP, unnamed": (CONGESTION, 0), "L2TP": (DATAGRAM, 115), "raw": (RAW, 255)}
made = []
for name, (kind, protocol) in PROTOCOLS.items():
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.socket(family, kind, protocol).close()
            made.append(name)
        except OSError:
            pass
PAIRS = {"MPTCP": (2, STREAM, 262), "UDP-Lite": (2, DATAGRAM, 136), "VSOCK": (40, STREAM, 0), "TCP": (2, STREAM, 0)}
libc = ctypes.CDLL(None, use_errno=True)
for name, (family, kind, protocol) in PAIRS.items():
    libc.socketpair(family, kind, protocol, (ctypes.c_int * 2)())
    if ctypes.get_errno() == errno.EOPNOTSUPP:  # they were made, and are no pair
        made.append(f"two of {name}")
print(made or "none")
