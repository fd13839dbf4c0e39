"""select, poll, epoll, selectors, eventfd, inotify through ctypes, memfd, sendfile."""
import ctypes
import os
import select
import selectors
import socket
import time

one, other = socket.socketpair()
poll, epoll = select.poll(), select.epoll()
poll.register(one, select.POLLIN)
epoll.register(one, select.EPOLLIN | select.EPOLLET)
print(poll.poll(0), select.select([one], [], [], 0))
other.send(b"x")
print(len(poll.poll(60000)), len(epoll.poll(60)), len(select.select([one], [other], [], 60)[1]))
with selectors.DefaultSelector() as selector:
    selector.register(one, selectors.EVENT_READ, "data")
    print([key.data for key, _ in selector.select(60)], type(selector).__name__)
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(os.O_NONBLOCK)
libc.inotify_add_watch(watch, b".", 0x100)
open("made", "w").close()
print(b"made" in os.read(watch, 1000))
memory = os.memfd_create("name")
print(os.write(memory, b"12345"), os.sendfile(other.fileno(), memory, 0, 5), one.recv(10))
if hasattr(os, "eventfd"):
    event = os.eventfd(0)
    os.eventfd_write(event, 3)
    print(os.eventfd_read(event))
with open("source", "w+b", 0) as source, open("target", "w+b") as target:
    source.write(b"12345")
    print(os.copy_file_range(source.fileno(), target.fileno(), 5, 0), os.pread(target.fileno(), 5, 0))
begun = time.monotonic()
time.sleep(0.01)
print(time.monotonic() - begun >= 0.01)
