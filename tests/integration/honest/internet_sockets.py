"""socket: TCP, UDP, many connections, options, names of services and of the loopback."""
import select
import socket
import socketserver
import threading

listener = socket.create_server(("127.0.0.1", 0), backlog=50)
clients = [socket.create_connection(listener.getsockname(), 60) for _ in range(50)]
accepted = [listener.accept()[0] for _ in clients]
for number, client in enumerate(clients):
    client.sendall(b"%d" % number)
print(sum(int(peer.recv(10)) for peer in accepted))
accepted[0].shutdown(socket.SHUT_WR)
print(clients[0].recv(1), clients[1].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1))
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 0))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.sendto(b"datagram", receiver.getsockname())
print(select.select([receiver], [], [], 60)[0] == [receiver], receiver.recvfrom(100)[0])
print(socket.getservbyname("http"), socket.getservbyname("domain", "udp"), socket.getprotobyname("tcp"))
print(socket.gethostbyname("localhost"), socket.getaddrinfo("localhost", "http", socket.AF_INET)[0][4])
print(socket.inet_aton("10.0.0.1"), socket.htons(1), "lo" in [name for _, name in socket.if_nameindex()])


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(self.rfile.readline()[::-1])


with socketserver.ThreadingTCPServer(("", 0), Handler) as server:
    threading.Thread(target=server.serve_forever).start()
    with socket.create_connection(("127.0.0.1", server.server_address[1])) as client:
        client.sendall(b"abc\n")
        print(client.makefile("rb").read())
    server.shutdown()
try:
    socket.create_connection(("127.0.0.1", 1), 60)
except OSError as error:
    print(error)
