"""Packages made for tests, and an index that serves them: nothing is asked of the outside.

    wheel(folder, "gadget", "1.0", requires=["widget>=2"])
    sdist(folder, "slow", "1.0", build="import time; time.sleep(1000)")
    with Index(folder) as index:
        environment = {"PIP_INDEX_URL": index.url, "PIP_TRUSTED_HOST": index.host}
"""

import base64
import hashlib
import html
import http.server
import io
import pathlib
import tarfile
import threading
import zipfile


def metadata(name, version, requires=()):
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    return "\n".join(lines + [f"Requires-Dist: {each}" for each in requires]) + "\n"


def wheel(folder, name, version="1.0", requires=(), modules=None, programs=None, lists=()):
    """Writes a wheel of pure Python and returns its path. MODULES is file name -> source; without
    it there is one named like the package, whose VERSION is its version. PROGRAMS is name -> the
    function that it calls, as "gadget:main". Its list of files LISTS more than it has."""
    modules = modules or {f"{name}.py": f"VERSION = {version!r}\n"}
    information = f"{name}-{version}.dist-info"
    files = {**modules, f"{information}/METADATA": metadata(name, version, requires),
             f"{information}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\n"
                                     "Root-Is-Purelib: true\nTag: py3-none-any\n"}
    if programs:
        files[f"{information}/entry_points.txt"] = "[console_scripts]\n" + "".join(
            f"{program} = {function}\n" for program, function in programs.items())
    record = [f"{file},sha256={record_hash(text)},{len(text.encode())}"
              for file, text in files.items()] + [f"{file},," for file in lists]
    files[f"{information}/RECORD"] = "\n".join([*record, f"{information}/RECORD,,"]) + "\n"
    path = pathlib.Path(folder) / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return path


def record_hash(text):
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


BACKEND = """import pathlib, zipfile
NAME, VERSION = {name!r}, {version!r}
METADATA = {metadata!r}

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    {build}
    file = f"{{NAME}}-{{VERSION}}-py3-none-any.whl"
    information = f"{{NAME}}-{{VERSION}}.dist-info"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / file, "w") as archive:
        archive.writestr(f"{{NAME}}.py", f"VERSION = {{VERSION!r}}\\n")
        archive.writestr(f"{{information}}/METADATA", METADATA)
        archive.writestr(f"{{information}}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\n"
                                                   "Tag: py3-none-any\\n")
        archive.writestr(f"{{information}}/RECORD", "")
    return file
"""
PROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


def sdist(folder, name, version="1.0", build="pass"):
    """Writes a source distribution whose build runs BUILD first, one line, and returns its path.
    It brings its own build backend."""
    files = {"PKG-INFO": metadata(name, version), "pyproject.toml": PROJECT,
             "backend.py": BACKEND.format(name=name, version=version, build=build,
                                          metadata=metadata(name, version))}
    path = pathlib.Path(folder) / f"{name}-{version}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for file, text in files.items():
            entry = tarfile.TarInfo(f"{name}-{version}/{file}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


def sha256(path):
    """The hash of a file as a requirements file has it."""
    return f"sha256:{hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.index.requests.append(self.path)
        self.server.index.gate.wait()
        parts = self.path.strip("/").split("/")
        if parts[0] == "simple" and len(parts) == 2:
            return self._links(parts[1])
        return self._file(parts[-1])

    do_HEAD = do_GET

    def _links(self, project):
        files = [path for path in sorted(self.server.index.folder.iterdir())
                 if path.name.partition("-")[0].lower().replace("_", "-") == project]
        if not files:
            return self._answer(404, "text/plain", b"")
        links = "".join(f'<a href="{self.server.index.files}/files/{html.escape(path.name)}#{sha256(path).replace(":", "=")}'
                        f'">{html.escape(path.name)}</a>\n' for path in files)
        return self._answer(200, "text/html", f"<!DOCTYPE html><html><body>{links}".encode())

    def _file(self, name):
        if self.server.index.moved:
            self.send_response(302)
            self.send_header("Location", f"{self.server.index.moved}/files/{name}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path = self.server.index.folder / name
        if not path.is_file():
            return self._answer(404, "text/plain", b"")
        return self._answer(200, "application/octet-stream", path.read_bytes())

    def _answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Index:
    """A package index of what is in FOLDER; for containers at ADDRESS, their gateway. Its pages say that files are at
    FILES, or it redirects to MOVED who asks for one: the sites of other indexes."""

    def __init__(self, folder, address="127.0.0.1", files="", moved=""):
        self.folder = pathlib.Path(folder)
        self.files, self.moved = files, moved
        self.requests = []  # the paths that were asked for
        self.gate = threading.Event()  # cleared: no request is answered
        self.gate.set()
        self._http = http.server.ThreadingHTTPServer((address, 0), Handler)
        self._http.index = self
        self._http.handle_error = lambda *_: None  # the installer was killed
        self.host = address
        self.place = f"{address}:{self._http.server_port}"
        self.site = f"http://{self.place}"
        self.url = f"{self.site}/simple"
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)

    def protect(self, context):
        """From now on with TLS."""
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True, do_handshake_on_connect=False)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.gate.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
