'''
tries = "to keep the proxy of its run busy when it has ended itself, by a daemon and by connections without an end"
held_by = ["by design: the server kills the tree of the proxy with the run"]
[outcome]
any = "-"  # it has no proxy
"sandbox hosts" = "exit 0: begun"
'''
import os
import socket
import time


def keep():
    tunnels = []
    for _ in range(100):
        connection = socket.create_connection(("127.0.0.1", 3128))
        connection.sendall(f"CONNECT {os.environ['PYEXECD_TEST_LISTED']} HTTP/1.1\r\n\r\n".encode())
        tunnels.append(connection)
    half = [socket.create_connection(("127.0.0.1", 3128)) for _ in range(100)]
    for connection in half:
        connection.sendall(b"GET http://")
    return tunnels, half


kept = keep()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
print("begun")
