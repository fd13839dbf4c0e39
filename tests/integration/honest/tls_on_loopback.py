"""ssl: a server with a certificate that openssl makes, a client that checks it, one that does not trust it."""
import http.server
import os
import ssl
import subprocess
import threading
import urllib.error
import urllib.request

subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-keyout", "key.pem", "-out", "certificate.pem", "-subj", "/CN=localhost",
                "-addext", "subjectAltName=IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"secret of " + self.path.encode())

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("certificate.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.handle_error = lambda *_: None  # of the client that does not trust it
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"https://127.0.0.1:{server.server_port}/x"
trusting = ssl.create_default_context(cafile="certificate.pem")
print(urllib.request.urlopen(address, context=trusting).read())
try:
    urllib.request.urlopen(address)
except urllib.error.URLError as error:
    print(error.reason.verify_message)
server.shutdown()
os.remove("key.pem")
os.remove("certificate.pem")
