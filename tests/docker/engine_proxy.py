"""Stands between a server and its engine, and does harm to one request.

    with EngineProxy(engine.socket, folder) as proxy:
        proxy.harm("DELETE /containers/ID", "cut")        # the first of them from now on
        proxy.harm("POST /exec/ID/start", function)       # called when it comes, before the engine hears of it
"""

import re
import select
import socket
import socketserver
import threading
import time

REQUEST = re.compile(rb"(GET|POST|PUT|DELETE|HEAD) (?:/v[\d.]+)?(\S+) HTTP/1\.1\r\n")
BODY = b'{"message": "harm was done"}'
REFUSAL = (b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\n"
           b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY))
DELAY_SECONDS = 1.5
WAYS = ("refuse", "cut", "delay")


def kind(method, target):
    """A request without what it is about: `POST /exec/ID/start`."""
    return re.sub(r"\b[0-9a-f]{12,}\b", "ID", f"{method.decode()} {target.decode().partition('?')[0]}")


class EngineProxy(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, engine_socket, folder):
        self.engine_socket = str(engine_socket)
        self.address = f"unix://{folder}/proxy.sock"
        self.lock = threading.Lock()
        self.harm(None, None)
        super().__init__(f"{folder}/proxy.sock", Pipe)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def harm(self, request, way):
        """Does harm to the first REQUEST from now on in this WAY; `requests` are those from now on."""
        with self.lock:
            self.requests = []
            self.request, self.way = request, way

    def harm_to(self, data):
        """What is to be done to the request that begins with DATA, or None."""
        begun = REQUEST.match(data)
        if not begun:
            return None
        request = kind(*begun.groups())
        with self.lock:
            self.requests.append(request)
            return self.way if request == self.request and self.requests.count(request) == 1 else None

    def changed(self, data):
        """What arrives of DATA."""
        return data

    def handle_error(self, *_):
        """A connection that is cut is what this is for."""

    def __exit__(self, *exception):
        self.shutdown()
        super().__exit__(*exception)


class WithoutSockets(EngineProxy):
    """An engine whose containers do not reach sockets of this machine, as one that lives in a virtual machine: those of
    our next `hiding` containers are elsewhere, under a name that is as long."""

    hiding = 1 << 30

    def changed(self, data):
        if self.hiding:
            data, count = re.subn(rb'("Target": ?"/\.pyexecd-)streams"', rb'\1strange"', data, count=1)
            self.hiding -= count
        return data


class WithoutRuns(EngineProxy):
    """An engine that cannot start the next `failing` runs in containers: what they were to execute is elsewhere."""

    failing = 0

    def changed(self, data):
        begun = REQUEST.match(data)
        if not self.failing or not begun or kind(*begun.groups()) != "POST /containers/ID/exec":
            return data
        self.failing -= 1
        return data.replace(b"pyexecd-init", b"pyexecd-none")


class Pipe(socketserver.BaseRequestHandler):
    def handle(self):
        with socket.socket(socket.AF_UNIX) as engine:
            engine.connect(self.server.engine_socket)
            other = {self.request: engine, engine: self.request}
            while other:
                for source in select.select(list(other), [], [])[0]:
                    if not self.carry(source, other):
                        return

    def carry(self, source, other):
        """Moves what has come; False at the end of the connection."""
        data = source.recv(1 << 16)
        if not data:
            other[source].shutdown(socket.SHUT_WR)
            del other[source]
            return True
        way = self.server.harm_to(data) if source is self.request else None
        if way == "refuse":
            self.request.sendall(REFUSAL)
            return False
        if way == "delay":
            time.sleep(DELAY_SECONDS)
        if callable(way):
            way()
        other[source].sendall(self.server.changed(data))
        if way == "cut":
            other[source].recv(1)  # the engine has done it, and nobody hears of it
            return False
        return True
