"""Runs a program on a network of its own, where names lead to what ADDRESSES says, for whoever may make namespaces:

    resolving.py COMMAND...

A web server at each address of that network (port 80) tells where it was reached.
"""

import collections
import ctypes
import fcntl
import http.server
import os
import pathlib
import signal
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading

# One of the internet; those of the machine, of which one is public.
PUBLIC, OWN, OWN_PUBLIC = "93.184.215.14", "127.0.0.1", "151.101.0.223"
# What questions for a name are answered with, one after the other, and the last again and again.
ADDRESSES = {
    "public.test": [[PUBLIC]],
    "rebinding.test": [[PUBLIC], [OWN]],
    "both.test": [[OWN, PUBLIC]],
    "many.test": [[PUBLIC] * 100],  # more than a datagram holds
    "own.test": [[OWN]],
    "own-public.test": [[OWN_PUBLIC]],
    "own-six.test": [["::1"]],
    "mapped.test": [["::ffff:127.0.0.1"]],
    "nowhere.test": [["0.0.0.0"]],
    "link.test": [["169.254.169.254"]],
    "link-six.test": [["fe80::1"]],
    "silent.test": [],  # never answered
}
A, AAAA = 1, 28
ANSWER, CUT_OFF, NO_SUCH_NAME = 0x8180, 0x0200, 0x0003
DATAGRAM_BYTES, STREAM_BYTES = 512, 65535
FILES = {"resolv.conf": f"nameserver {OWN}\n", "nsswitch.conf": "hosts: files dns\n", "hosts": f"{OWN} localhost\n"}
# From linux/sockios.h and prctl.h.
SET_ADDRESS, SET_FLAGS, UP = 0x8916, 0x8914, 1
PR_SET_PDEATHSIG = 1
# From linux/netlink.h and rtnetlink.h.
REQUEST, ACKNOWLEDGE, CREATE, NEW_ROUTE = 0x1, 0x4, 0x400, 24
DESTINATION, INTERFACE, SOURCE = 1, 4, 7
TABLE_LOCAL, BY_BOOT, OF_HOST, KIND_LOCAL = 255, 3, 254, 2

asked = collections.Counter()  # the questions for each name, of the kind that has an answer


def packed(address):
    """(the type of its record, its bytes)"""
    is_six = ":" in address
    return AAAA if is_six else A, socket.inet_pton(socket.AF_INET6 if is_six else socket.AF_INET, address)


def question(query):
    """(name, type, the bytes of the question)"""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode())
        at += 1 + query[at]
    return ".".join(labels).lower(), struct.unpack_from(">H", query, at + 1)[0], query[12:at + 5]


def addresses_of(name, kind):
    rounds = ADDRESSES[name]
    found = [packed(address) for address in rounds[min(asked[name], len(rounds) - 1)]]
    found = [data for of_kind, data in found if of_kind == kind]
    asked[name] += bool(found)
    return found


def reply(query, most):
    """What a name server says to QUERY, in MOST bytes; None: nothing."""
    name, kind, asking = question(query)
    if not ADDRESSES.get(name, True):
        return None
    found = addresses_of(name, kind) if name in ADDRESSES else []
    flags = ANSWER if name in ADDRESSES else ANSWER | NO_SUCH_NAME
    records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(data)) + data for data in found)
    if 12 + len(asking) + len(records) > most:
        flags, found, records = flags | CUT_OFF, [], b""
    return query[:2] + struct.pack(">HHHHH", flags, 1, len(found), 0, 0) + asking + records


class Datagram(socketserver.BaseRequestHandler):
    def handle(self):
        query, server = self.request
        answer = reply(query, DATAGRAM_BYTES)
        if answer:
            server.sendto(answer, self.client_address)


class Stream(socketserver.StreamRequestHandler):
    def handle(self):
        while length := self.rfile.read(2):
            answer = reply(self.rfile.read(*struct.unpack(">H", length)), STREAM_BYTES)
            self.wfile.write(struct.pack(">H", len(answer)) + answer)


class Place(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.headers["Host"]
        body = f"{self.server.server_address[0]}, asked {asked[name]}".encode()
        self.send_response(302 if self.path.startswith("/to/") else 200)
        self.send_header("Location", "http://" + self.path[len("/to/"):])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def set_up_network():
    """Its loopback is up, and has a public address as well."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SET_FLAGS, struct.pack("16sH14x", b"lo", UP))
        fcntl.ioctl(control, SET_ADDRESS, struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0,
                                                      socket.inet_aton(OWN_PUBLIC)))
    add_internet()


def add_internet():
    """PUBLIC is reached over the loopback, from another address, as what is not the machine's own is."""
    attributes = b"".join(struct.pack("HH4s", 8, kind, data) for kind, data in (
        (DESTINATION, socket.inet_aton(PUBLIC)), (INTERFACE, struct.pack("I", socket.if_nametoindex("lo"))),
        (SOURCE, socket.inet_aton(OWN))))
    route = struct.pack("BBBBBBBBI", socket.AF_INET, 32, 0, 0, TABLE_LOCAL, BY_BOOT, OF_HOST, KIND_LOCAL, 0) + attributes
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW) as control:
        control.send(struct.pack("IHHII", 16 + len(route), NEW_ROUTE, REQUEST | CREATE | ACKNOWLEDGE, 1, 0) + route)
        (problem,) = struct.unpack_from("i", control.recv(4096), 16)
        assert problem == 0, os.strerror(-problem)


def put_files():
    folder = tempfile.mkdtemp(prefix="pyexecd-resolving-")
    subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
    for name, text in FILES.items():
        path = pathlib.Path(folder) / name
        path.write_text(text)
        subprocess.run(["mount", "--bind", path, f"/etc/{name}"], check=True)
    subprocess.run(["umount", "--lazy", folder], check=True)
    os.rmdir(folder)


class Six(socketserver.ThreadingTCPServer):
    address_family = socket.AF_INET6


def make_servers():
    """They take connections, and serve none yet. An HTTPServer would ask for its name."""
    return [socketserver.ThreadingUDPServer((OWN, 53), Datagram), socketserver.ThreadingTCPServer((OWN, 53), Stream),
            *(socketserver.ThreadingTCPServer((address, 80), Place) for address in (PUBLIC, OWN_PUBLIC, OWN)),
            Six(("::1", 80), Place)]


def serve(servers, parent):
    """Until PARENT has ended, whose streams are none of ours."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return
    for fd in range(3):
        os.close(fd)
    for server in servers:
        threading.Thread(target=server.serve_forever).start()


def main():
    if sys.argv[1] != "inside":
        os.execvp("unshare", ["unshare", "--user", "--map-root-user", "--mount", "--net",
                              sys.executable, __file__, "inside", *sys.argv[1:]])
    set_up_network()
    put_files()
    servers = make_servers()
    parent = os.getpid()
    if os.fork() == 0:
        serve(servers, parent)
    else:
        os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
