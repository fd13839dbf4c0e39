"""requests: pages, JSON, sessions, files and errors of a server on loopback."""
import http.server
import json
import threading

import certifi
import requests


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", "seen=1")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(404 if self.path == "/missing" else 200, {"path": self.path, "cookie": self.headers["Cookie"]})

    def do_POST(self):
        self.answer(200, len(self.rfile.read(int(self.headers["Content-Length"]))))

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://localhost:{server.server_port}"
with requests.Session() as session:
    print(session.get(address + "/a", params={"b": "ä"}).json())
    print(session.get(address + "/again").json())
    print(session.post(address, json={"a": [1, 2]}).json(), session.post(address, data=b"x" * 100000).json())
    try:
        session.get(address + "/missing").raise_for_status()
    except requests.HTTPError as error:
        print(str(error)[:20])
try:
    requests.get("http://127.0.0.1:1/", timeout=60)
except requests.ConnectionError as error:
    print(type(error).__name__)
print(open(certifi.where()).read().count("BEGIN CERTIFICATE") > 50)
server.shutdown()
