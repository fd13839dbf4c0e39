'''
tries = "to reach this machine's services, the network, and sockets of other programs"
held_by = ["network of the sandbox"]
[outcome]
any = "-"  # nothing but a sandbox keeps it from that
sandbox = "exit 0: held"
"sandbox landlock" = "exit 0: held"
'''
import os
import socket

reached = []


def attempt(what, family, kind, address, protocol=0):
    try:
        with socket.socket(family, kind, protocol) as attempted:
            attempted.settimeout(1)
            attempted.connect(address)
            attempted.send(b"x")
            reached.append(what)
    except OSError:
        pass


def listening():
    """The ports that something listens on, as the kernel tells."""
    for table in ("tcp", "tcp6"):
        try:
            with open(f"/proc/net/{table}") as file:
                yield from (int(line.split()[1].rpartition(":")[2], 16) for line in list(file)[1:])
        except OSError:
            pass


def abstract():
    try:
        with open("/proc/net/unix") as file:
            return [line.split()[7] for line in list(file)[1:] if len(line.split()) > 7]
    except OSError:
        return []


for port in {22, 53, 80, 443, 631, 2375, 5432, 6379, 8080, *listening()}:
    attempt(f"127.0.0.1:{port}", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", port))
    attempt(f"[::1]:{port}", socket.AF_INET6, socket.SOCK_STREAM, ("::1", port))
for host in ("1.1.1.1", "169.254.169.254", "10.0.0.1", "192.168.0.1", "224.0.0.1"):
    attempt(f"{host}, TCP", socket.AF_INET, socket.SOCK_STREAM, (host, 80))
    attempt(f"{host}, UDP", socket.AF_INET, socket.SOCK_DGRAM, (host, 53))
for path in abstract():
    name = f"\\0{path[1:]}" if path[0] == "@" else path
    attempt(path, socket.AF_UNIX, socket.SOCK_STREAM, name)
for path in ("/run/docker.sock", "/var/run/docker.sock", "/run/systemd/private", "/run/dbus/system_bus_socket"):
    attempt(path, socket.AF_UNIX, socket.SOCK_STREAM, path)
for family, name in ((17, "packets"), (40, "virtual machine"), (38, "kernel crypto")):
    try:
        socket.socket(family, socket.SOCK_SEQPACKET if family == 38 else socket.SOCK_STREAM)
        reached.append(name)
    except OSError:
        pass
print(reached or "held")
