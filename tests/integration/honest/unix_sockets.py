"""socket: unix sockets with and without a name, descriptors and credentials that go over them."""
import array
import os
import socket
import struct

one, other = socket.socketpair()
with open("passed.txt", "w+") as file:
    file.write("through a socket")
    file.flush()
    one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file.fileno()]))])
message, [(_, kind, data)], *_ = other.recvmsg(1, socket.CMSG_LEN(4))
descriptor = struct.unpack("i", data)[0]
os.lseek(descriptor, 0, os.SEEK_SET)
print(message, kind == socket.SCM_RIGHTS, os.read(descriptor, 100))
pid, uid, gid = struct.unpack("3i", one.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
print(pid == os.getpid(), uid == os.getuid(), gid == os.getgid())
for name in ("listener.socket", "\0abstract name of this script"):
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind(name)
        listener.listen()
        client.connect(name)
        client.sendall(b"hello")
        print(listener.accept()[0].recv(5))
os.remove("listener.socket")
datagrams = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
print(datagrams[0].send(b"12345"), datagrams[1].recv(3))
