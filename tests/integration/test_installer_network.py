"""What installs packages in a sandbox, and what a package runs while it is built, reaches the indexes that the operator's
settings name and nothing else."""

import base64
import http.server
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import threading

import client
import plain_user
import pytest
import wheels

ROOT = pathlib.Path(__file__).resolve().parents[2]
UV = ROOT / ".deps" / "tools" / "bin" / "uv"
LIMITED = [sys.executable, str(ROOT / "tests" / "integration" / "limited.py"), "namespaces", "--",
           os.environ["PYEXECD"]]
TIMEOUT = 300  # seconds: pip starts slowly on a busy machine
VERSION = "import gadget; print(gadget.VERSION)"

# What the build of a package finds out is told in its metadata.
TRIES = """exec('''
import socket, urllib.request
def tries(what, *arguments):
    try:
        what(*arguments).close()
        return "reached"
    except OSError:
        return "closed"
direct = tries(socket.create_connection, ("127.0.0.1", {port}), 5)
asked = tries(urllib.request.urlopen, "{elsewhere}")
index = tries(urllib.request.urlopen, "{index}/gadget/")
import os
told = ", told the password" * any("secret" in value for value in os.environ.values())
METADATA += "Summary: socket " + direct + ", request " + asked + ", index " + index + told + chr(10)
''', globals())"""
TELL = "from importlib.metadata import metadata; print(metadata('hostile')['Summary'])"


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    plain_user.become(monkeypatch, tmp_path)
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            monkeypatch.delenv(name)
    for name in ("packages", "nothing"):
        (tmp_path / name).mkdir()
    wheels.wheel(tmp_path / "packages", "gadget")


@pytest.fixture
def index(tmp_path):
    with wheels.Index(tmp_path / "packages") as index:
        yield index


@pytest.fixture
def elsewhere(tmp_path):
    """Another index: whoever can reach it can reach whatever is not named."""
    with wheels.Index(tmp_path / "packages") as index:
        yield index


@pytest.fixture(params=["pip", "uv"])
def installer(request, tmp_path, monkeypatch):
    if request.param == "uv":
        provide_uv(tmp_path, monkeypatch)
    return request.param


def provide_uv(folder, monkeypatch):
    if not UV.exists():
        pytest.skip("no uv here")
    (folder / "bin").mkdir()
    (folder / "bin" / "uv").symlink_to(UV.resolve())
    monkeypatch.setenv("PATH", f"{folder}/bin:/usr/bin:/bin")


def run(code, *packages, command=None, **more):
    """The result of CODE where PACKAGES are installed."""
    held = {"type": "venv", "isolation": "sandbox", "pip_packages": list(packages), **more}
    environments = {"held": held, "first": {"type": "system", "isolation": "none"}}
    config = {"default_environment": "held", "environments": environments}
    with client.Server(command=command, config=config) as server:
        server.initialize()
        server.call_tool("run_python", {"code": "pass", "environment": "first"}, timeout=TIMEOUT)
        return server.call_tool("run_python", {"code": code}, timeout=TIMEOUT)["structuredContent"]


def output(code, *packages, **more):
    result = run(code, *packages, **more)
    if result.get("containment", {}).get("layers", {}).get("own network") == "absent" and "command" not in more:
        pytest.skip("this machine gives a run no network of its own")
    assert result["success"], result.get("error", result)
    return result["stdout"]


def build(folder, index, elsewhere, **more):
    """What a package reaches from its build, that is installed from INDEX, a URL."""
    port = elsewhere.place.rpartition(":")[2]
    wheels.sdist(folder / "packages", "hostile",
                 build=TRIES.format(port=port, elsewhere=elsewhere.url + "/gadget/", index=index))
    return output(TELL, "hostile", pip_index_url=index, allow_source_builds=True, **more)


def test_a_build_reaches_the_index_and_nothing_else(tmp_path, index, elsewhere, installer):
    assert build(tmp_path, index.url, elsewhere) == "socket closed, request closed, index reached\n"
    assert not elsewhere.requests


ATTACKS = """exec('''
import os, socket
from urllib.parse import urlsplit
proxy = urlsplit(os.environ["HTTP_PROXY"])
def tries(request, host=proxy.hostname, port=proxy.port):
    try:
        with socket.create_connection((host, port), 10) as talk:
            talk.sendall(request)
            talk.shutdown(socket.SHUT_WR)
            talk.recv(1)
    except OSError:
        pass
end = bytes([13, 10])
def asks(line, host):
    tries(end.join([line.encode(), b"Host: " + host.encode(), b"", b""]))
for host in ("127.0.0.1", "localhost", "::1"):
    tries(b"direct", host, {port})
tries(b"direct", *"{index}".split(":"))
for place in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "127.1", "2130706433", "0.0.0.0"):
    asks("CONNECT " + place + ":{port} HTTP/1.1", place + ":{port}")
    asks("CONNECT " + place + ":{port} HTTP/1.1", "{index}")
    asks("GET http://" + place + ":{port}/ HTTP/1.1", "{index}")
    asks("GET http://{index}@" + place + ":{port}/ HTTP/1.1", "{index}")
asks("GET /simple/ HTTP/1.1", "127.0.0.1:{port}")
asks("GET http://{index}/simple/marked/ HTTP/1.1", "127.0.0.1:{port}")
tries(bytes([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1]) + ({port}).to_bytes(2, "big"))
raise RuntimeError("attacked")
''', globals())"""


def attack(folder, index, port):
    """The error of a package that tries PORT of this machine in all ways while it is built."""
    wheels.sdist(folder / "packages", "hostile", build=ATTACKS.format(port=port, index=index.place))
    result = run("pass", "hostile", pip_index_url=index.url, allow_source_builds=True)
    assert not result["success"], result
    return result["error"]


def test_no_way_leads_a_build_elsewhere_and_the_error_says_so(tmp_path, index, installer):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        error = attack(tmp_path, index, port)
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
    lines = [line for line in error.splitlines() if f"127.0.0.1:{port}" in line and "does not reach" in line]
    assert len(lines) == 1 and "the operator can list it in `network`" in lines[0], error
    assert "/simple/marked/" in index.requests  # the name in Host counts for nothing


def test_a_build_that_asks_nobody_is_told_what_is_closed(tmp_path, index, installer):
    wheels.sdist(tmp_path / "packages", "hostile", build="import socket; socket.create_connection(('127.0.0.1', 9))")
    result = run("pass", "hostile", pip_index_url=index.url, allow_source_builds=True)
    assert not result["success"], result
    lines = [line for line in result["error"].splitlines() if "reaches the package indexes only" in line]
    assert len(lines) == 1 and "`network`" in lines[0], result


def test_without_a_sandbox_it_reaches_all(tmp_path, index, elsewhere):
    assert build(tmp_path, index.url, elsewhere, isolation="none") == "socket reached, request reached, index reached\n"


def test_it_reaches_what_scripts_reach(tmp_path, index, elsewhere):
    told = build(tmp_path, index.url, elsewhere, network=[elsewhere.place])
    assert told == "socket closed, request reached, index reached\n"
    told = build(tmp_path, index.url, elsewhere, network=True, limits={"memory": "1GiB"}, python_version="3")
    assert told == "socket reached, request reached, index reached\n"


def test_without_a_network_of_its_own_packages_still_come_from_the_index(index):
    assert output(VERSION, "gadget", command=LIMITED, pip_index_url=index.url) == "1.0\n"


@pytest.mark.parametrize("variables", [
    {"PIP_INDEX_URL": "{url}"},
    {"PIP_INDEX_URL": "{nothing}", "PIP_EXTRA_INDEX_URL": "{url}/ {nothing}"},
    {"PIP_INDEX_URL": "{nothing}", "PIP_FIND_LINKS": "{url}/gadget/"},
], ids=lambda variables: list(variables)[-1])
def test_variables_name_the_index(tmp_path, monkeypatch, index, installer, variables):
    with wheels.Index(tmp_path / "nothing") as nothing:
        monkeypatch.setenv("PIP_TRUSTED_HOST", "127.0.0.1")
        for name, value in variables.items():
            monkeypatch.setenv(name, value.format(url=index.url, nothing=nothing.url))
        assert output(VERSION, "gadget") == "1.0\n"


def test_variables_of_uv_name_the_index(tmp_path, monkeypatch, index):
    provide_uv(tmp_path, monkeypatch)
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"mirror={index.url}")
    assert output(VERSION, "gadget") == "1.0\n"


def test_the_settings_of_pip_name_the_index(tmp_path, monkeypatch, index):
    settings = tmp_path / "home" / ".config" / "pip"
    settings.mkdir(parents=True)
    monkeypatch.delenv("PIP_CONFIG_FILE")
    with wheels.Index(tmp_path / "nothing") as nothing:
        (settings / "pip.conf").write_text(f"[global]\nindex_url = {nothing.url}\nextra_index_url =\n"
                                           f"    {nothing.url}\n    {index.url}\n")
        assert output(VERSION, "gadget") == "1.0\n"


def test_the_settings_of_uv_name_the_index(tmp_path, monkeypatch, index):
    provide_uv(tmp_path, monkeypatch)
    settings = tmp_path / "home" / ".config" / "uv"
    settings.mkdir(parents=True)
    (settings / "uv.toml").write_text(f'[[index]]\nurl = "{index.url}"\ndefault = true\n')
    assert output(VERSION, "gadget") == "1.0\n"


@pytest.mark.parametrize("how", ["files", "moved"])
def test_files_of_another_host_are_named_in_the_error_and_can_be_opened(tmp_path, elsewhere, installer, how):
    with wheels.Index(tmp_path / "packages", **{how: elsewhere.site}) as index:
        result = run(VERSION, "gadget", pip_index_url=index.url)
        assert not result["success"], result
        assert f"does not reach {elsewhere.place}," in result["error"] and "`network`" in result["error"], result
        assert not elsewhere.requests
        assert output(VERSION, "gadget", pip_index_url=index.url, network=[elsewhere.place]) == "1.0\n"


def test_an_index_that_is_not_reached_is_told(monkeypatch, installer):
    """Not that the package has no wheel, or should not try to reach others while it is built."""
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    for index in ("https://127.0.0.1:9/simple", *(["http://127.0.0.1:9/simple"] if installer == "uv" else [])):
        error = run(VERSION, "gadget", pip_index_url=index)["error"]
        assert "The package index was not reached" in error and error.count("The operator can") == 1, error
        assert "wheel" not in error and "reaches the package indexes only" not in error, error


@pytest.fixture
def beyond(tmp_path):
    """A Python outside /usr: scripts could have written what its pip says."""
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", tmp_path / "beyond"], check=True)
    return str(tmp_path / "beyond" / "bin" / "python")


@pytest.fixture(scope="module")
def default_index():
    """The host that the pip of this machine's own Python asks."""
    question = "from pip._internal.models.index import PyPI; print(PyPI.netloc)"
    asked = subprocess.run(["/usr/bin/python3", "-Ic", question], capture_output=True, text=True)
    if asked.returncode:
        pytest.skip("the Python of this machine has no pip")
    return asked.stdout.strip()


def from_links(folder, monkeypatch, elsewhere, **more):
    """What a package reaches from its build, that is in a directory of this machine. No index is asked in earnest:
    what leads to one ends at the proxy."""
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder / "packages"))
    monkeypatch.setenv("PIP_RETRIES", "0")
    wheels.sdist(folder / "packages", "hostile",
                 build=TRIES.format(port=elsewhere.place.rpartition(":")[2], elsewhere=elsewhere.url + "/gadget/",
                                    index=elsewhere.url))
    with Proxy(elsewhere.place) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        return output(TELL, "hostile", allow_source_builds=True, **more)


def plant_pip(packages, host):
    """A pip that says its index is at HOST."""
    models = packages / "pip" / "_internal" / "models"
    models.mkdir(parents=True)
    for folder in (models, models.parent, models.parent.parent):
        (folder / "__init__.py").write_text("__version__ = '99'\n")
    (models / "index.py").write_text(f"class PyPI:\n simple_url = 'http://{host}/'\n file_storage_domain = '{host}'\n")


def test_a_python_outside_of_usr_reaches_the_index_of_the_systems_pip(tmp_path, monkeypatch, elsewhere, beyond,
                                                                      default_index):
    plant_pip(next((tmp_path / "beyond" / "lib").glob("python3*")) / "site-packages", "planted.invalid")
    with Proxy(elsewhere.place) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv("PIP_RETRIES", "0")
        run(VERSION, "gadget", python_path=beyond)
        assert set(proxy.asked) == {f"CONNECT {default_index}:443"}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to hide the pip of this machine")
def test_a_python_that_is_not_believed_opens_no_more_than_it_names(tmp_path, monkeypatch, beyond, default_index):
    provide_uv(tmp_path, monkeypatch)  # whose index is the default one, whatever pip says
    plant_pip(next((tmp_path / "beyond" / "lib").glob("python3*")) / "site-packages", "planted.invalid")
    where = "import pip, ensurepip; print(*{m.__path__[0] for m in (pip, ensurepip)})"
    folders = subprocess.run(["/usr/bin/python3", "-Ic", where], capture_output=True, text=True, check=True).stdout
    hidden = "for each in $0; do mount -t tmpfs none $each; done; exec \"$@\""
    result = run(VERSION, "gadget", python_path=beyond,
                 command=["unshare", "-m", "sh", "-ec", hidden, folders, os.environ["PYEXECD"]])
    assert not result["success"] and f"does not reach {default_index}:443, " in result["error"], result


def test_a_build_for_a_python_outside_of_usr_reaches_nothing_else(tmp_path, monkeypatch, elsewhere, beyond):
    told = from_links(tmp_path, monkeypatch, elsewhere, python_path=beyond)
    assert told == "socket closed, request closed, index closed\n"
    assert not elsewhere.requests


def test_a_build_for_a_venv_of_somebody_elses_reaches_nothing_else(tmp_path, monkeypatch, elsewhere, default_index):
    subprocess.run(["/usr/bin/python3", "-m", "venv", tmp_path / "theirs"], check=True)
    told = from_links(tmp_path, monkeypatch, elsewhere, venv_path=str(tmp_path / "theirs"))
    assert told == "socket closed, request closed, index closed\n"
    assert not elsewhere.requests


def test_who_asks_no_index_reaches_none(tmp_path, monkeypatch, index, elsewhere, installer):
    monkeypatch.setenv(f"{installer.upper()}_NO_INDEX", "true")
    monkeypatch.setenv("PIP_INDEX_URL", elsewhere.url)
    told = from_links(tmp_path, monkeypatch, elsewhere)
    assert told == "socket closed, request closed, index closed\n"
    assert not elsewhere.requests


def test_who_asks_no_index_reaches_links(tmp_path, monkeypatch, index, installer):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_TRUSTED_HOST", "127.0.0.1")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{index.url}/gadget/")
    assert output(VERSION, "gadget") == "1.0\n"


class ProxyHandler(http.server.BaseHTTPRequestHandler):
    """Whatever is asked for is at the index behind it."""

    def do_CONNECT(self):
        if not self.is_allowed():
            return
        with socket.create_connection(self.server.behind) as far:
            self.send_response(200)
            self.end_headers()
            near = self.connection
            back = threading.Thread(target=self.pump, args=(far, near))
            back.start()
            self.pump(near, far)
            back.join()
        self.close_connection = True

    def do_GET(self):
        if not self.is_allowed():
            return
        with socket.create_connection(self.server.behind) as far:
            path = self.path.split("/", 3)[3]
            far.sendall(f"GET /{path} HTTP/1.1\r\nHost: index\r\nConnection: close\r\n\r\n".encode())
            self.pump(far, self.connection)
        self.close_connection = True

    def is_allowed(self):
        self.server.asked.append(f"{self.command} {self.path}")
        expected = "Basic " + base64.b64encode(self.server.login.encode()).decode()
        if not self.server.login or self.headers["Proxy-Authorization"] == expected:
            return True
        self.send_error(407)
        return False

    @staticmethod
    def pump(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def log_message(self, *_):
        pass


class Proxy(http.server.ThreadingHTTPServer):
    """A proxy of the operator's, before the index at BEHIND, for who knows LOGIN."""

    daemon_threads = True

    def __init__(self, behind, login=""):
        super().__init__(("127.0.0.1", 0), ProxyHandler)
        host, _, port = behind.rpartition(":")
        self.behind, self.login, self.asked = (host, int(port)), login, []
        self.url = f"http://{login + '@' if login else ''}127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


def test_the_proxy_of_the_operator_leads_to_the_index_only(tmp_path, monkeypatch, index, elsewhere, installer):
    with Proxy(index.place, "me:secret") as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        told = build(tmp_path, "http://index.invalid/simple", elsewhere)
        assert told == "socket closed, request closed, index reached\n"
        assert proxy.asked
        assert all(asked.startswith("GET http://index.invalid/") for asked in proxy.asked), proxy.asked
    assert not elsewhere.requests


def certify(folder):
    """A certificate for index.invalid, `leaf` with its `key`, of an authority whose own is `public`."""
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    subprocess.run([*new, "-subj", "/CN=tests", "-keyout", folder / "authority", "-out", folder / "public"],
                   check=True, capture_output=True)
    subprocess.run([*new, "-subj", "/CN=index.invalid", "-addext", "subjectAltName=DNS:index.invalid",
                    "-addext", "basicConstraints=critical,CA:FALSE", "-CA", folder / "public",
                    "-CAkey", folder / "authority", "-keyout", folder / "key", "-out", folder / "leaf"],
                   check=True, capture_output=True)


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl here")
def test_an_index_with_tls_is_reached_through_the_proxy_of_the_operator(tmp_path, monkeypatch, index, installer):
    certify(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "leaf", tmp_path / "key")
    index.protect(context)
    monkeypatch.setenv("PIP_CERT", str(tmp_path / "public"))
    with Proxy(index.place, "me:s%40cret") as proxy:
        proxy.login = "me:s@cret"
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert output(VERSION, "gadget", pip_index_url="https://index.invalid/simple") == "1.0\n"
        assert set(proxy.asked) == {"CONNECT index.invalid:443"}


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl here")
def test_a_certificate_that_is_not_trusted_is_told(tmp_path, monkeypatch, index, installer):
    """As of a company's proxy that reads what it passes on."""
    certify(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "leaf", tmp_path / "key")
    index.protect(context)
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.delenv("PIP_CERT", raising=False)
    with Proxy(index.place) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        error = run(VERSION, "gadget", pip_index_url="https://index.invalid/simple")["error"]
    assert "is not trusted" in error and "PIP_CERT" in error and "was not reached" not in error, error


def test_pip_goes_through_the_proxy_in_its_settings(tmp_path, monkeypatch, index):
    settings = tmp_path / "home" / ".config" / "pip"
    settings.mkdir(parents=True)
    monkeypatch.delenv("PIP_CONFIG_FILE")
    with Proxy(index.place) as proxy:
        (settings / "pip.conf").write_text(f"[global]\nproxy = {proxy.url}\n")
        assert output(VERSION, "gadget", pip_index_url="http://index.invalid/simple") == "1.0\n"


def test_what_needs_no_proxy_goes_without(monkeypatch, index, installer):
    monkeypatch.setenv("ALL_PROXY", "http://proxy.invalid:3128")
    monkeypatch.setenv("NO_PROXY", "example.org, 127.0.0.0/8")
    assert output(VERSION, "gadget", pip_index_url=index.url) == "1.0\n"


def test_a_proxy_that_refuses_is_in_the_error(monkeypatch, index):
    with Proxy(index.place, "me:secret") as proxy:
        proxy.login = "somebody:else"
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        result = run(VERSION, "gadget", pip_index_url="https://index.invalid/simple")
        assert not result["success"] and f"the proxy 127.0.0.1:{proxy.server_port} answers 407" in result["error"], result
        assert "secret" not in result["error"]


def test_a_proxy_of_another_kind_says_what_to_do(monkeypatch, index):
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    result = run(VERSION, "gadget", pip_index_url=index.url)
    assert not result["success"] and "HTTP proxies only" in result["error"], result
