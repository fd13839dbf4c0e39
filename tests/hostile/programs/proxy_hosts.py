'''
tries = "to reach through the proxy of its run what the operator has not listed, by every form of its address"
held_by = ["hosts of the proxy"]
limit = 120
[outcome]
any = "-"  # it has no proxy
"sandbox hosts" = "exit 0: held"
'''
import os
import socket
import struct

host, _, port = os.environ["PYEXECD_TEST_UNLISTED"].rpartition(":")
forms = ["127.0.0.1", "127.0.0.1.", "localhost", "LOCALHOST.", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0",
         "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "127.0.0.1%lo",
         "a@127.0.0.1", "127.0.0.1\0.example"]
reached = []


def ask(request, is_granted):
    with socket.create_connection(("127.0.0.1", 3128)) as connection:
        connection.sendall(request)
        answer = b""
        while more := connection.recv(1000):
            answer += more
            if is_granted(answer):
                reached.append(request)
                break


def http(answer):
    return answer.startswith((b"HTTP/1.1 200", b"HTTP/1.0 200"))


def socks(answer):
    return len(answer) >= 4 and answer[3] == 0


for form in forms:
    place = f"{form}:{port}".encode()
    ask(b"CONNECT %s HTTP/1.1\r\n\r\n" % place, http)
    ask(b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (place, os.environ["PYEXECD_TEST_LISTED"].encode()), http)
    name = form.strip("[]").encode()
    ask(b"\5\1\0" + b"\5\1\0\3" + bytes([len(name)]) + name + struct.pack(">H", int(port)), socks)
ask(b"\5\1\0" + b"\5\1\0\1" + socket.inet_aton(host) + struct.pack(">H", int(port)), socks)
for six in ("::1", "::ffff:127.0.0.1"):
    ask(b"\5\1\0" + b"\5\1\0\4" + socket.inet_pton(socket.AF_INET6, six) + struct.pack(">H", int(port)), socks)
print(reached or "held")
