'''
tries = "to reach by other protocols what TCP and UDP do not, or code of the kernel that nobody else uses"
held_by = ["listed protocols"]
[outcome]
any = "-"  # nothing but a sandbox keeps it from that
sandbox = "exit 0: none"
"sandbox landlock" = "exit 0: none"
'''
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
print(made or "none")
