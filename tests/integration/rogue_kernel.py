"""A Jupyter kernel that does what kernels should not: rogue_kernel.py HOW CONNECTION_FILE

Its cells are words: `say TEXT` prints; those of each HOW are below.
"""

import hashlib
import hmac
import json
import os
import shutil
import signal
import socket
import sys
import time
import uuid

import zmq

GREETING = b"\xff" + bytes(8) + b"\x7f\3\0NULL" + bytes(48)  # of ZMTP 3.0
READY = b"\4\x19\5READY\x0bSocket-Type\0\0\0\3PUB"
CHUNK = bytes(1 << 20)

how, connection = sys.argv[1:]
with open(connection) as file:
    facts = json.load(file)
key = facts["key"].encode()
context = zmq.Context()


def bound(kind, name):
    made = context.socket(kind)
    made.bind(f"ipc://{facts['ip']}-{facts[name]}")
    return made


def signature(parts, with_key=None):
    return hmac.new(with_key or key, b"".join(parts), hashlib.sha256).hexdigest().encode()


def parts_of(kind, parent, content):
    header = {"msg_id": uuid.uuid4().hex, "session": "x", "username": "k", "date": "", "msg_type": kind,
              "version": "5.3"}
    return [json.dumps(each).encode() for each in (header, parent, {}, content)]


def publish(kind, parent, content):
    parts = parts_of(kind, parent, content)
    iopub.send_multipart([kind.encode(), b"<IDS|MSG>", signature(parts), *parts])


def reply(identities, kind, parent, content):
    parts = parts_of(kind, parent, content)
    shell.send_multipart([*identities, b"<IDS|MSG>", signature(parts), *parts])


def say(parent, text):
    publish("stream", parent, {"name": "stdout", "text": text})


def send_nonsense(parent):
    """All that cannot be meant, on both channels; some of it is signed."""
    wrong = parts_of("stream", parent, {"name": "stdout", "text": "not signed"})
    iopub.send_multipart([b"<IDS|MSG>", signature(wrong, b"another key"), *wrong])
    iopub.send_multipart([b"<IDS|MSG>", b"", *wrong])
    iopub.send_multipart([b"<IDS|MSG>"])
    iopub.send_multipart([b""] * 100)
    iopub.send_multipart([b"", b"\xff" * 100000])
    for texts in ([b"{", b"{", b"{", b"{"], [b"[]"] * 4, [b"[" * 100000] * 4, [b"\xff"] * 4, [b"1"] * 4,
                  [b'{"msg_type": "stream"}', b"{}", b"{}", b'{"text": "\xff"}']):
        iopub.send_multipart([b"<IDS|MSG>", signature(texts), *texts])
    for content in ({}, {"name": 1, "text": 2}, {"name": "stdout", "text": ["x"]}, {"data": 1},
                    {"data": {"text/plain": {}}},
                    {"data": {"image/png": "?"}}, {"traceback": 1}, {"traceback": [1, None]}, {"execution_state": []}):
        for kind in ("stream", "display_data", "execute_result", "error", "status", "no such type", "x" * 10000):
            publish(kind, parent, content)


def forge_ends(parent):
    """Of cells that were not sent, or are over."""
    for msg_id in ("", "0" * 32, "x" * 1000, None, {}, earlier.get("msg_id", "")):
        publish("status", {"msg_id": msg_id}, {"execution_state": "idle"})
        reply(identities, "execute_reply", {"msg_id": msg_id}, {"status": "ok"})


def raw_iopub():
    """A connection in place of iopub, for bytes of ZeroMQ's own protocol."""
    path = f"{facts['ip']}-{facts['iopub_port']}"
    iopub.close()
    os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    link = listener.accept()[0]
    link.sendall(GREETING + READY)
    return link


def head(length, has_more=False):
    """What precedes a part of a message."""
    return bytes([2 + has_more]) + length.to_bytes(8, "big")


def wait_for_message():
    """The interrupt by a message."""
    *_, header, _parent, _metadata, _content = control.recv_multipart()
    return json.loads(header)["msg_type"]


if how == "silent":
    time.sleep(3600)
if how == "dies":
    sys.exit(7)
if how == "message":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
shell, control, iopub = bound(zmq.ROUTER, "shell_port"), bound(zmq.ROUTER, "control_port"), bound(zmq.PUB, "iopub_port")
if how == "unsigned":
    key = b"another key"
earlier = {}
while True:
    *identities, _delimiter, _signature, header, _parent, _metadata, content = shell.recv_multipart()
    header, code = json.loads(header), json.loads(content).get("code", "")
    publish("status", header, {"execution_state": "busy"})
    status = "ok"
    if code.startswith("say "):
        say(header, code[4:])
    elif code == "nonsense":
        send_nonsense(header)
        say(header, "after")
    elif code == "forge":
        forge_ends(header)
        time.sleep(1)
        say(header, "after")
    elif code == "hang":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        time.sleep(3600)
    elif code == "wait":
        say(header, wait_for_message())
    elif code == "flood":
        for _ in range(100):
            say(header, "f" * 1_000_000)
    elif code == "stream without end":
        while True:
            say(header, "s" * 100_000)
    elif code == "huge message":
        link = raw_iopub()
        link.sendall(head(1024 * len(CHUNK)))
        for _ in range(1024):
            link.sendall(CHUNK)
    elif code == "message without end":
        link = raw_iopub()
        while True:
            link.sendall(head(len(CHUNK), has_more=True) + CHUNK)
    elif code == "end in a message":
        raw_iopub().sendall(head(1024 * len(CHUNK)) + CHUNK)
        sys.exit(7)
    elif code == "stop the relay":
        os.kill(os.getppid(), signal.SIGSTOP)
    elif code == "disturb the relay":
        for number in (signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH) * 10_000:
            os.kill(os.getppid(), number)
        say(header, "after")
    elif code == "take the sockets away":
        shutil.rmtree(os.path.dirname(connection))
        say(header, "after")
    elif code == "escape":
        if os.fork() == 0:
            os.setsid()
            time.sleep(3600)
    elif code == "never idle":
        say(header, "here")
    reply(identities, header["msg_type"].replace("request", "reply"), header, {"status": status})
    if code != "never idle":
        publish("status", header, {"execution_state": "idle"})
    earlier = header
