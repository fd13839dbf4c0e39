'''
tries = "to use up the descriptors that its user may have on the way in sockets"
held_by = ["by design: a runner whose report does not arrive is an error of its run"]
[outcome]
any = "exit 0: sent"
'''
import array
import os
import socket

sockets = []
try:
    while len(sockets) < 400:
        one, other = socket.socketpair()
        sockets += [one, other]
        for _ in range(10):
            fds = array.array("i", [0] * 250)
            one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)], socket.MSG_DONTWAIT)
except OSError:
    pass
print("sent", flush=True)
