'''
tries = "to reach a service of the machine by a listed name that leads there"
held_by = ["addresses of the proxy"]
[outcome]
any = "-"  # it has no proxy
"sandbox hosts" = "exit 0: held"
'''
import os
import socket

name = os.environ["PYEXECD_TEST_OWN_NAME"]  # empty, where the machine has none
with socket.create_connection(("127.0.0.1", 3128)) as connection:
    connection.sendall(f"CONNECT {name or 'none.invalid:1'} HTTP/1.1\r\n\r\n".encode())
    answer = connection.recv(1000)
print(answer if b" 200 " in answer else "held")
