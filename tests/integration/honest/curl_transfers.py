"""curl: its version, a page of a server on loopback, a post, a download, a file, a connection that is refused."""
import http.server
import os
import subprocess
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(b"x" * 100000)

    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers["Content-Length"]))[::-1])

    def log_message(self, *_):
        pass


def curl(*arguments):
    done = subprocess.run(["curl", "-sS", *arguments], capture_output=True)
    print(done.returncode, done.stdout[:100])


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://localhost:{server.server_port}/"
curl("--version")
curl("-o", "page", "-w", "%{http_code} %{size_download}", address)
print(os.path.getsize("page"))
curl("-d", "abc", address)
curl(f"file://{os.getcwd()}/page")
server.shutdown()
curl("--max-time", "60", "http://127.0.0.1:1/")
