"""xmlrpc and multiprocessing.connection over loopback, with authentication."""
import multiprocessing.connection
import threading
import xmlrpc.client
import xmlrpc.server

server = xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False)
server.register_function(lambda a, b: a + b, "add")
threading.Thread(target=server.serve_forever, daemon=True).start()
with xmlrpc.client.ServerProxy(f"http://127.0.0.1:{server.server_address[1]}") as proxy:
    print(proxy.add(2, 3), proxy.add("a", "b"))
server.shutdown()
server.server_close()

listener = multiprocessing.connection.Listener(("127.0.0.1", 0), authkey=b"key")


def serve():
    with listener.accept() as peer:
        peer.send(list(reversed(peer.recv())))


thread = threading.Thread(target=serve)
thread.start()
with multiprocessing.connection.Client(listener.address, authkey=b"key") as client:
    client.send([1, 2, 3])
    print(client.recv())
thread.join()
listener.close()
