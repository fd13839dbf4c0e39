"""A cable between a server and an engine that is reached by TCP, which can be cut.

    with EngineCable(port) as cable:
        ... f"tcp://127.0.0.1:{cable.port}"
        cable.cut()          # both ends of all connections see their end
        cable.mute()         # nobody hears anything of all connections that there are
"""

import select
import socket
import socketserver
import threading


class EngineCable(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, port):
        self.there = ("127.0.0.1", port)
        self.lock = threading.Lock()
        self.connections = set()
        super().__init__(("127.0.0.1", 0), Connection)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def cut(self):
        with self.lock:
            for connection in self.connections:
                connection.cut()

    def handle_error(self, *_):
        """A connection that is cut is what this is for."""

    def __exit__(self, *exception):
        self.shutdown()
        self.cut()
        super().__exit__(*exception)


class Connection(socketserver.BaseRequestHandler):
    def handle(self):
        with socket.create_connection(self.server.there) as self.engine:
            with self.server.lock:
                self.server.connections.add(self)
            try:
                self.carry({self.request: self.engine, self.engine: self.request})
            finally:
                with self.server.lock:
                    self.server.connections.discard(self)

    def carry(self, other):
        while other:
            for source in select.select(list(other), [], [])[0]:
                data = source.recv(1 << 16)
                if data:
                    other[source].sendall(data)
                else:
                    other[source].shutdown(socket.SHUT_WR)
                    del other[source]

    def cut(self):
        for end in (self.request, self.engine):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:  # it has ended
                pass
