"""Passes the cells of a session to its Jupyter kernel, and shows what that answers (see kernel.py).

Cells come over a socket, as they come to driver.py, and one byte goes back for each of them.

    STARTING -> RESTING -> WORKING -> RESTING ...

A cell has ended when the kernel has answered it and has then said that it is idle: all output of the cell came before.

A kernel ignores an interrupt between two cells, and ipykernel may lose one in the first moments of a cell, or become idle without
an answer to it. So an interrupt waits for its cell to be at work. As in driver.py, that is the next one if it has come already, and
the line "interrupted" may say something else.

Version 5.3 of Jupyter's protocol goes over ZeroMQ, which pyzmq brings: ipykernel and jupyter_client need that, too. What a
kernel sends is hostile: cells may have changed the kernel. The program of the session gives what it has made: `connection`,
`kernel`, `cells`, `signals` and `rich` (rich.py).
"""

import base64
import contextlib
import hmac
import json
import os
import re
import select
import signal
import sys
import time

import zmq

DELIMITER = b"<IDS|MSG>"
INTERRUPTED = b"interrupted\n"
SIGNED = 4  # parts that follow the signature: header, parent_header, metadata, content
STARTING, RESTING, WORKING = range(3)
TURN = 64  # messages that are taken before signals are looked at again
ASK_MS = 500  # after which a kernel is asked again whether it is there, or no answer to an interrupt is awaited
BEGIN = 0.1  # seconds, after which a cell is at work that the kernel has told of
UNTOLD = 0.5  # the same of a cell that it has not told of
QUIET_MS = 5000  # after which a kernel that has answered is taken for idle
AGAIN_MS = 10  # after which a socket is connected again, until the kernel has its end
LAST_MS = 200  # for messages that a kernel has sent before its end


class Wire:
    """Messages of Jupyter over three sockets, signed with the key of the connection."""

    def __init__(self):
        self.key = connection.key.encode()
        self.session = new_name()
        self.context = zmq.Context()
        self.shell, self.control = self.open("shell", zmq.DEALER), self.open("control", zmq.DEALER)
        self.iopub = self.open("iopub", zmq.SUB)

    def open(self, channel, kind):
        """Nothing is dropped for being too much: what is kept is bounded by the limits of the session."""
        made = self.context.socket(kind)
        made.setsockopt(zmq.LINGER, 0)
        made.setsockopt(zmq.RCVHWM, 0)
        made.setsockopt(zmq.RECONNECT_IVL, AGAIN_MS)
        if kind == zmq.SUB:
            made.setsockopt(zmq.SUBSCRIBE, b"")
        else:
            made.setsockopt(zmq.IDENTITY, self.session.encode())
        made.connect(connection.address(channel))
        return made

    def signature(self, parts):
        return hmac.new(self.key, b"".join(parts), "sha256").hexdigest().encode()

    def parts_of(self, kind, content):
        """The id of a request, and its parts."""
        request = new_name()
        header = {"msg_id": request, "session": self.session, "username": "pyexecd", "version": "5.3",
                  "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "msg_type": kind}
        parts = [json.dumps(each).encode() for each in (header, {}, {}, content)]
        return request, [DELIMITER, self.signature(parts), *parts]

    def send(self, channel, kind, content):
        """The id of a request. One that cannot be sent is lost and gets no reply."""
        request, parts = self.parts_of(kind, content)
        with contextlib.suppress(zmq.ZMQError):
            channel.send_multipart(parts, zmq.DONTWAIT)
        return request

    def read(self, parts):
        """The type, the id of the request and the content of a message. ValueError: it is none, or not signed with the key.
        It is hostile: cells may have changed the kernel that wrote it."""
        at = parts.index(DELIMITER) + 1
        signature, parts = parts[at:at + 1], parts[at + 1:at + 1 + SIGNED]
        if len(parts) < SIGNED or not hmac.compare_digest(signature[0], self.signature(parts)):
            raise ValueError("its signature is wrong, or parts are missing")
        try:
            header, parent, content = (json.loads(str(parts[i], "utf-8")) for i in (0, 1, 3))
        except RecursionError:
            raise ValueError("it is too deep") from None
        if not all(isinstance(each, dict) for each in (header, parent, content)):
            raise ValueError("a part is no object")
        return header.get("msg_type"), parent.get("msg_id"), content


def show(data):
    """Shows DATA, forms by MIME type, by the rules of rich.py: pictures and pages become files, all else is text. Anything
    else shows nothing."""
    forms = {kind: form for kind, form in data.items() if isinstance(form, str)} if isinstance(data, dict) else {}
    has_picture = show_picture(forms)
    text = forms.get("text/markdown")
    if text is None:
        text = text_of(forms, has_picture)
    if text is not None:
        print(text)


def show_picture(forms):
    """Whether the best picture is a file now."""
    kind = next((kind for kind in rich.PICTURES if forms.get(kind)), None)
    if kind is None:
        return False
    try:
        data = forms[kind] if kind == "image/svg+xml" else base64.b64decode("".join(forms[kind].split()), validate=True)
    except ValueError:
        say(f"{kind} is not base64")
        return False
    return rich.save(data, rich.PICTURES[kind])


def text_of(forms, has_picture):
    """None: there is none, or something else has been shown in its place."""
    text = forms.get("text/plain")
    if not is_no_text(text, has_picture) and len(text) <= rich.LONG_TEXT:
        return text
    if has_picture or "text/html" in forms and rich.save(forms["text/html"], "html"):
        return None
    return forms.get("text/latex", text)


def is_no_text(text, has_picture):
    """Also what is only the default "<...>" of an object, or the name of a figure that is shown."""
    if text is None or not re.fullmatch(r"<[^\n]*>", text):
        return text is None
    return has_picture or " object" in text or " at 0x" in text


def show_stream(content):
    stream = sys.stderr if content.get("name") == "stderr" else sys.stdout
    if isinstance(content.get("text"), str):
        stream.write(content["text"])
        stream.flush()


def show_error(content):
    name, value = (each if isinstance(each, str) else None for each in map(content.get, ("ename", "evalue")))
    lines = content.get("traceback")
    if not isinstance(lines, list) or not lines:
        lines = [f"{name}: {value or ''}" if name else value]
    for line in lines:
        if isinstance(line, str):
            say(line)


def show_data(content):
    show(content.get("data"))


SHOWN = {"stream": show_stream, "error": show_error, "execute_result": show_data, "display_data": show_data,
         "update_display_data": show_data}


class Relay:
    def __init__(self):
        self.state = STARTING
        self.wire = Wire()
        self.request = None  # the id of the last one
        self.has_reply = self.is_idle = False  # to it, and after it
        self.at_work = 0  # when an interrupt reaches the cell
        self.is_interrupted = False  # a cell, and the kernel has not been told
        self.was_interrupted = False  # the cell, or the last one
        self.is_heard = False  # a message has come on iopub
        self.bad = 0  # messages that were dropped
        self.status = 0  # of the cell
        self.takers = {self.wire.shell: self.take_reply, self.wire.control: lambda *_: None,
                       self.wire.iopub: self.take_news}
        self.poller = zmq.Poller()
        for each in (*self.takers, signals):
            self.poller.register(each, zmq.POLLIN)

    def ask(self, kind, content):
        self.has_reply = self.is_idle = False
        self.request = self.wire.send(self.wire.shell, kind, content)

    def begin_cell(self):
        code = self.receive()
        rich.begin_cell()
        self.status = 1
        self.at_work, self.was_interrupted = time.monotonic() + UNTOLD, self.is_interrupted
        self.state = WORKING
        self.ask("execute_request", {"code": code, "silent": False, "store_history": True, "user_expressions": {},
                                     "allow_stdin": False, "stop_on_error": True})

    def receive(self):
        """The code of a cell, whose length comes before it."""
        head = receive_line(cells)
        if head == INTERRUPTED:
            if not self.was_interrupted:
                self.is_interrupted = False  # that was for the former
            head = receive_line(cells)
        return receive_bytes(cells, int(head)).decode("utf-8", "replace")

    def end_cell(self):
        self.state = RESTING
        self.is_interrupted = False
        self.has_reply, self.request = False, None
        if self.bad:
            say(f"pyexecd: {self.bad} messages of the kernel were dropped: not signed, or no messages")
        self.bad = 0
        with contextlib.suppress(OSError):
            os.write(cells, bytes([self.status]))

    def take_news(self, kind, request, content):
        """Takes output of any cell: threads of an earlier cell print into the present one."""
        self.is_heard = True
        if self.request and request == self.request:
            if kind == "execute_input":
                self.at_work = time.monotonic() + BEGIN
            elif kind == "status" and content.get("execution_state") == "idle":
                self.is_idle = True
        if isinstance(kind, str) and kind in SHOWN:
            SHOWN[kind](content)

    def take_reply(self, _kind, request, content):
        if not self.request or request != self.request:
            return
        self.has_reply = True
        if self.state != WORKING:
            return
        self.status = 0 if content.get("status") == "ok" else 1
        payload = content.get("payload")
        for page in payload if isinstance(payload, list) else []:
            if isinstance(page, dict) and page.get("source") == "page":  # the output of `object?` and the like
                show(page.get("data"))

    def take(self, channel, taker):
        for _ in range(TURN):
            try:
                parts = channel.recv_multipart(zmq.DONTWAIT)
            except zmq.Again:
                return
            try:
                message = self.wire.read(parts)
            except ValueError:
                self.bad += 1
                continue
            taker(*message)

    def interrupt(self):
        if self.state == STARTING:
            fail("it has not started: " + ("what it has sent is not signed as it should" if self.bad else
                                           "it has not answered yet"))
        if self.state == WORKING or has_come(cells):
            self.is_interrupted = True
        if self.state == WORKING or not self.is_interrupted:
            self.was_interrupted = True

    def interrupt_kernel(self):
        self.is_interrupted = False
        if kernel.takes_messages:
            self.wire.send(self.wire.control, "interrupt_request", {})
        else:
            kernel.interrupt()

    def take_signals(self):
        if signal.SIGINT in os.read(signals, TURN):
            self.interrupt()
        if kernel.process.poll() is not None:
            self.end(kernel.process.returncode)

    def end(self, status):
        """Ends as the kernel has."""
        while self.wire.iopub.poll(LAST_MS):
            self.take(self.wire.iopub, self.take_news)
        if self.state == STARTING:
            fail("it has ended before it was ready")
        if status < 0:
            with contextlib.suppress(OSError):
                signal.signal(-status, signal.SIG_DFL)
            os.kill(os.getpid(), -status)
        os._exit(status & 255)

    def step(self, was_quiet):
        if self.state == STARTING and self.has_reply and self.is_heard:
            self.state = RESTING
        elif self.state == STARTING and was_quiet and self.has_reply:
            self.ask("kernel_info_request", {})  # its words have come before we could hear them
        elif self.state == WORKING:
            self.step_cell(was_quiet)

    def step_cell(self, was_quiet):
        if self.has_reply and (self.is_idle or was_quiet) or self.is_idle and was_quiet and self.was_interrupted:
            self.end_cell()
        elif self.is_interrupted and time.monotonic() >= self.at_work:
            self.interrupt_kernel()

    def patience(self):
        if self.state == STARTING:
            return ASK_MS
        if self.state == WORKING and self.is_interrupted:
            return 1 + 1000 * max(0, self.at_work - time.monotonic())
        if self.state == WORKING and self.is_idle and self.was_interrupted:
            return ASK_MS
        return QUIET_MS if self.state == WORKING and self.has_reply else None

    def turn(self):
        self.poller.register(cells, zmq.POLLIN if self.state == RESTING else 0)
        came = dict(self.poller.poll(self.patience()))
        if signals in came:
            self.take_signals()
        for channel, taker in self.takers.items():
            if channel in came:
                self.take(channel, taker)
        self.step(not came)
        if cells in came:
            self.begin_cell()


def receive_bytes(channel, length):
    parts = []
    while length:
        parts.append(os.read(channel, length))
        if not parts[-1]:
            os._exit(0)  # the session is over
        length -= len(parts[-1])
    return b"".join(parts)


def receive_line(channel):
    line = b""
    while not line.endswith(b"\n"):
        line += receive_bytes(channel, 1)
    return line


def has_come(channel):
    """Whether there is something to read."""
    return bool(select.select([channel], [], [], 0)[0])


def main():
    relay = Relay()
    relay.ask("kernel_info_request", {})
    while True:
        relay.turn()
