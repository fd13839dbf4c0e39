"""http.server, urllib and http.client on loopback: pages, files, posts, errors, redirects."""
import functools
import http.client
import http.server
import pathlib
import threading
import urllib.error
import urllib.parse
import urllib.request


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(303)
        self.send_header("Location", "/page.html?" + body.decode())
        self.end_headers()

    def log_message(self, *_):
        pass


pathlib.Path("page.html").write_text("<p>hello</p>")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory="."))
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
with urllib.request.urlopen(base + "/page.html") as page:
    print(page.status, page.headers["Content-Type"], page.read())
with urllib.request.urlopen(base + "/form", urllib.parse.urlencode({"a": "ä b"}).encode()) as page:
    print(page.url[len(base):])
try:
    urllib.request.urlopen(base + "/missing")
except urllib.error.HTTPError as error:
    print(error.code)
connection = http.client.HTTPConnection("localhost", server.server_port)
for _ in range(3):
    connection.request("HEAD", "/page.html")
    answer = connection.getresponse()
    print(answer.status, answer.length, answer.read())
connection.close()
print(urllib.request.urlretrieve(base + "/page.html", "copy.html")[0])
server.shutdown()
