'''
tries = "to have the proxy of its run make more connections than a machine can bear"
held_by = ["connections of the proxy"]
limit = 120
[outcome]
any = "-"  # it has no proxy
"sandbox hosts" = "exit 0: 128, and it goes on"
'''
import contextlib
import os
import select
import socket

PROXY = ("127.0.0.1", 3128)
REQUEST = f"CONNECT {os.environ['PYEXECD_TEST_LISTED']} HTTP/1.1\r\n\r\n".encode()
BOUND = 128
answers = 0
with select.epoll() as poll:
    held = {}
    for _ in range(300):
        connection = socket.create_connection(PROXY)
        connection.sendall(REQUEST)
        held[connection.fileno()] = connection
        poll.register(connection, select.EPOLLIN)
    # One that is beyond the bound has a second to be served after all.
    while ready := poll.poll(30 if answers < BOUND else 1):
        for fd, _ in ready:
            poll.unregister(fd)
            with contextlib.suppress(OSError):  # it was dropped
                answers += held[fd].recv(100).startswith(b"HTTP/1.1 200 ")
for connection in held.values():
    connection.close()
with socket.create_connection(PROXY) as connection:
    connection.sendall(REQUEST)
    goes_on = b" 200 " in connection.recv(100)
print(f"{answers}, and it {'goes on' if goes_on else 'does not'}")
