"""A registry of images on loopback, read-only, that fails as it is told to.

    with Registry() as registry:
        name = registry.serve(image)          # 127.0.0.1:PORT/NAME:TAG
        registry.cut(layer, after=1000)       # the connection ends there
        registry.hold(layer)                  # half of it, then nothing until release()

An engine takes it without TLS because its address is loopback.
"""

import hashlib
import http.server
import json
import threading

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
CONFIGURATION = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
BLOCK = 1 << 16


def digest_of(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.registry.requests.append(self.path)
        if self.path == "/v2/":
            return self._answer(b"{}", "application/json")
        kind, digest = self.path.split("/")[-2:]
        if kind == "manifests" and self.path in self.server.registry.manifests:
            return self._answer(self.server.registry.manifests[self.path], MANIFEST)
        if kind == "blobs" and digest in self.server.registry.blobs:
            return self._blob(digest)
        return self._missing()

    do_HEAD = do_GET

    def _head(self, status, kind, size, body=b""):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(size))
        if kind == MANIFEST:
            self.send_header("Docker-Content-Digest", digest_of(body))
        self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
        self.end_headers()

    def _answer(self, body, kind, status=200):
        self._head(status, kind, len(body), body)
        if self.command == "GET":
            self.wfile.write(body)

    def _missing(self):
        error = {"code": "MANIFEST_UNKNOWN", "message": "manifest unknown",
                 "detail": {"Tag": self.path.rpartition("/")[2]}}
        self._answer(json.dumps({"errors": [error]}).encode(), "application/json", 404)

    def _blob(self, digest):
        blob = self.server.registry.blobs[digest]
        if isinstance(blob, bytes):
            return self._answer(blob, CONFIGURATION)
        if self.headers["Range"]:  # the engine's second try at what was cut
            self.close_connection = True
            return None
        self._head(200, LAYER, blob.size)
        if self.command == "HEAD":
            return None
        end = self.server.registry.ends.get(digest, blob.size)
        with open(blob.path, "rb") as file:
            while file.tell() < end and (block := file.read(min(BLOCK, end - file.tell()))):
                self.wfile.write(block)
            if digest in self.server.registry.held:
                self.wfile.flush()
                self.server.registry.held[digest].wait()
                self.wfile.write(file.read())
        self.close_connection = end < blob.size
        return None

    def log_message(self, *_):
        pass


class Registry:
    def __init__(self):
        self.manifests = {}  # by path
        self.blobs = {}  # by digest: bytes, or a layer
        self.ends = {}  # digest -> where it stops
        self.held = {}  # digest -> an event
        self.requests = []  # the paths that were asked for
        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.registry = self
        self._http.handle_error = lambda *_: None  # the engine went away
        self.address = f"127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.release()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def serve(self, image):
        """Offers IMAGE; the name to pull it by."""
        manifest = {
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": {"mediaType": CONFIGURATION, "size": len(image.configuration),
                       "digest": image.id},
            "layers": [{"mediaType": LAYER, "size": layer.size, "digest": layer.digest}
                       for layer in image.layers],
        }
        name, _, tag = image.name.partition(":")
        body = json.dumps(manifest).encode()
        for reference in tag, digest_of(body):
            self.manifests[f"/v2/{name}/manifests/{reference}"] = body
        self.blobs[image.id] = image.configuration
        self.blobs.update({layer.digest: layer for layer in image.layers})
        return f"{self.address}/{name}:{tag}"

    def cut(self, layer, after):
        """Whoever fetches LAYER gets its first AFTER bytes and the end of the connection."""
        self.ends[layer.digest] = after

    def hold(self, layer):
        """Whoever fetches LAYER gets half of it until `release`."""
        self.ends[layer.digest] = layer.size // 2
        self.held[layer.digest] = threading.Event()

    def release(self):
        for event in self.held.values():
            event.set()

    def heal(self):
        """From now on everything is served whole."""
        self.release()
        self.ends.clear()
        self.held.clear()
