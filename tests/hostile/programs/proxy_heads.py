'''
tries = "to crash the proxy of its run, or to block it, by requests that are none"
held_by = ["heads of the proxy"]
limit = 120
[outcome]
any = "-"  # it has no proxy
"sandbox hosts" = "exit 0: held"
'''
import contextlib
import os
import random
import socket

PROXY = ("127.0.0.1", 3128)
LISTED = os.environ["PYEXECD_TEST_LISTED"].encode()
choose = random.Random(1)


def send(data):
    with contextlib.suppress(OSError), socket.create_connection(PROXY) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


def is_alive():
    with contextlib.suppress(OSError), socket.create_connection(PROXY) as connection:
        connection.sendall(b"CONNECT %s HTTP/1.1\r\n\r\n" % LISTED)
        return b" 200 " in connection.recv(100)
    return False


heads = [
    b"", b"\0", b"\r\n" * 1000, b"\xff" * 100, b"GET", b"GET / HTTP/1.1\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n",
    b"GET http:// HTTP/1.1\r\n\r\n", b"GET http://:80/ HTTP/1.1\r\n\r\n", b"GET http://[::1/ HTTP/1.1\r\n\r\n",
    b"GET http://]/ HTTP/1.1\r\n\r\n", b"GET http://[]/ HTTP/1.1\r\n\r\n", b"CONNECT : HTTP/1.1\r\n\r\n",
    b"CONNECT [ HTTP/1.1\r\n\r\n", b"CONNECT ] HTTP/1.1\r\n\r\n", b"CONNECT %s HTTP/9.9\r\n\r\n" % LISTED,
    b"CONNECT %s:99999999999999999999 HTTP/1.1\r\n\r\n" % LISTED, b"CONNECT %s HTTP/1.1\n\n" % LISTED,
    b"CONNECT %s HTTP/1.1\r\n:\r\n\r\n" % LISTED, b"CONNECT %s HTTP/1.1\r\na b: c\r\n\r\n" % LISTED,
    b"CONNECT %s HTTP/1.1\r\na: \0\r\n\r\n" % LISTED, b"GET http://%s/ HTTP/1.1\r\nHost: a\nb: c\r\n\r\n" % LISTED,
    b"\5", b"\5\0", b"\5\xff", b"\5\1\2", b"\5\1\0\5\1\0\3\xff", b"\5\1\0\5\1\0\3\0\0\0", b"\5\1\0\5\3\0\1\0\0\0\0\0\0",
    b"\5\1\0\5\1\0\7", b"\5\1\0\4\1\0\1" + b"\0" * 6, b"\4\1\0\x50\x7f\0\0\1\0",
    *(b"GET http://%s/ HTTP/1.1\r\na: %s\r\n\r\n" % (LISTED, b"b" * size) for size in (16000, 16384, 20000, 1 << 20)),
    *(b"A" * size for size in (16383, 16384, 16385, 1 << 20)),
    *(bytes([first]) + choose.randbytes(choose.randrange(40000)) for first in b"\5G" for _ in range(30)),
]
for head in heads:
    send(head)
print("held" if is_alive() else "it serves nobody")
