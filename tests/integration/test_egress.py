"""A sandbox that reaches the hosts in a list and nothing else: by clients that people use, through the proxy of the
run, to servers of the test's own on this machine's loopback, which are named for it."""

import contextlib
import http.server
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading

import client
import leftovers
import pytest
import resolving
import wheels

PROXY = b"pyexecd-proxy"
RESOLVING = [sys.executable, str(pathlib.Path(__file__).with_name("resolving.py"))]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", "http://" + self.path[len("/to/"):])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.answer(b"hello from " + self.headers["Host"].encode())

    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers["Content-Length"]))[::-1])

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Web(http.server.ThreadingHTTPServer):
    """An HTTP server at 127.0.0.1, with TLS if it has a CERTIFICATE and its key in one file."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                    "-keyout", folder / "key", "-out", folder / "public"], check=True, capture_output=True)
    (folder / "both").write_text((folder / "key").read_text() + (folder / "public").read_text())
    return folder


@pytest.fixture(scope="module")
def web():
    with Web() as web, Web() as other:
        web.other = other.port
        yield web
        web.shutdown()
        other.shutdown()


@pytest.fixture(scope="module")
def tls(certificate):
    with Web(certificate / "both") as web:
        yield web
        web.shutdown()


@pytest.fixture(scope="module")
def silent():
    """Takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield listener.getsockname()[1]


def config(hosts, **more):
    return {"default_environment": "held",
            "environments": {"held": {"type": "system", "isolation": "sandbox", "network": hosts, **more}}}


@contextlib.contextmanager
def serving(hosts, command=None, **more):
    with client.Server(config=config(hosts, **more), command=command) as server:
        server.initialize()
        result = run(server, "pass")
        if result.get("isError") and "own network" in result["content"][0]["text"]:
            pytest.skip("this machine gives a run no network of its own")
        yield server


@pytest.fixture(scope="module")
def server(web, tls, silent, certificate):
    hosts = [f"127.0.0.1:{web.port}", f"localhost:{tls.port}", f"127.0.0.1:{silent}", "name.invalid:80"]
    with serving(hosts, read=[str(certificate / "public")]) as server:
        yield server


def run(server, code, **arguments):
    return server.call_tool("run_python", {"code": code, **arguments})


def output(server, code, **arguments):
    result = run(server, code, **arguments)["structuredContent"]
    assert result["returncode"] == 0, result
    return result["stdout"]


FETCH = "import urllib.request\nprint(urllib.request.urlopen({!r}).read().decode())"


def test_urllib_reaches_what_is_named(server, web):
    url = f"http://127.0.0.1:{web.port}/"
    assert output(server, FETCH.format(url)) == f"hello from 127.0.0.1:{web.port}\n"
    assert output(server, f"import urllib.request\nprint(urllib.request.urlopen({url!r}, b'abc').read())") == "b'cba'\n"


def test_tls_goes_through_a_tunnel(server, tls, certificate):
    code = ("import ssl, urllib.request\n"
            f"context = ssl.create_default_context(cafile='{certificate}/public')\n"
            f"print(urllib.request.urlopen('https://localhost:{tls.port}/', context=context).read().decode())")
    assert output(server, code) == f"hello from localhost:{tls.port}\n"


@pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl here")
def test_curl_reaches_what_is_named(server, web, tls, certificate):
    for url in (f"http://127.0.0.1:{web.port}/", f"https://localhost:{tls.port}/"):
        for more in ([], ["--proxytunnel"], ["--proxy", "socks5h://127.0.0.1:3128"]):
            command = ["curl", "-sS", "--cacert", f"{certificate}/public", *more, url]
            said = output(server, f"import subprocess\nprint(subprocess.check_output({command!r}).decode())")
            assert said == "hello from " + url.split("/")[2] + "\n", command


def test_pip_installs_from_an_index_that_is_named(tmp_path):
    wheels.wheel(tmp_path, "gadget", "1.0")
    with wheels.Index(tmp_path) as index:
        where = index.url.split("/")[2]
        code = ("import subprocess, sys\n"
                "subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--target', 'here', 'gadget'], check=True)\n"
                "sys.path.insert(0, 'here')\nimport gadget\nprint(gadget.VERSION)")
        variables = {"PIP_INDEX_URL": index.url, "PIP_TRUSTED_HOST": index.host}
        with serving([where], environment=variables) as server:
            has_pip = run(server, "import pip")["structuredContent"]["returncode"] == 0
            if not has_pip:
                pytest.skip("the system's Python has no pip")
            assert output(server, code, timeout=120) == "1.0\n"


def test_requests_goes_through_the_proxy(server, web, tls, certificate):
    code = ("from pip._vendor import requests\n"
            f"print(requests.get('http://127.0.0.1:{web.port}/').text)\n"
            f"print(requests.get('https://localhost:{tls.port}/', verify='{certificate}/public').text)\n"
            "try:\n    requests.get('https://name.example/')\nexcept requests.exceptions.ProxyError as err:\n"
            "    print('403 name.example:443 is not among the hosts' in str(err))")
    if run(server, "from pip._vendor import requests")["structuredContent"]["returncode"]:
        pytest.skip("the system's Python has no pip with requests in it")
    assert output(server, code) == f"hello from 127.0.0.1:{web.port}\nhello from localhost:{tls.port}\nTrue\n"


def test_everything_else_is_refused_with_words(server, web):
    for host in ("name.example:443", f"localhost:{web.port}", f"127.0.0.1:{web.other}", "169.254.169.254:80",
                 f"[::ffff:127.0.0.1]:{web.other}"):
        code = ("import http.client\n"
                "connection = http.client.HTTPConnection('127.0.0.1', 3128)\n"
                f"connection.request('GET', 'http://{host}/')\n"
                "answer = connection.getresponse()\nprint(answer.status, answer.reason, answer.read().decode())")
        said = output(server, code)
        assert said.startswith("403 ") and "is not among the hosts that the operator has opened (network)" in said
    result = run(server, FETCH.format("https://name.example/"))
    said = result["content"][0]["text"]
    assert "Tunnel connection failed: 403 name.example:443 is not among the hosts" in said, said
    assert f"Scripts here reach nothing of the network but 127.0.0.1:{web.port}, " in said, said


# Of a port that the operator has not named, and the answer to who asks for a tunnel to it.
LITERALS = {
    "127.0.0.1:{}": 403, "127.0.0.1.:{}": 403, "localhost:{}": 403, "localhost.:{}": 403, "0.0.0.0:{}": 403,
    "[::1]:{}": 403, "[::]:{}": 403, "[::ffff:127.0.0.1]:{}": 403, "[::FFFF:7f00:1]:{}": 403, "[::127.0.0.1]:{}": 403,
    "[64:ff9b::7f00:1]:{}": 403, "[0:0:0:0:0:ffff:127.0.0.1]:{}": 403, "[2002:7f00:1::]:{}": 403, "[fe80::1]:{}": 403,
    "10.0.0.1:{}": 403, "169.254.169.254:80": 403, "[fd00:ec2::254]:80": 403,
    # What some read as an address is neither one nor a name.
    "2130706433:{}": 400, "0x7f000001:{}": 400, "0x7f.0.0.1:{}": 400, "017700000001:{}": 400, "0177.0.0.1:{}": 400,
    "127.1:{}": 400, "127.0.1:{}": 400, "0:{}": 400, "127.0.0.1%lo:{}": 400, "[fe80::1%lo]:{}": 400, "[127.0.0.1]:{}": 400,
    "::1:{}": 400, "127.0.0.1\0.example:{}": 400, "user@127.0.0.1:{}": 400, "127.0.0.1:{}:80": 400, "127.0.0.1": 400,
}


def test_an_address_by_itself_is_open_only_if_it_is_named(server, web):
    hosts = [literal.format(web.other) for literal in LITERALS]
    code = f"""
import socket
for host in {hosts!r}:
    with socket.create_connection(("127.0.0.1", 3128)) as connection:
        connection.sendall(f"CONNECT {{host}} HTTP/1.1\\r\\nHost: {{host}}\\r\\n\\r\\n".encode())
        print(connection.recv(1000).split()[1].decode())
"""
    answers = [int(line) for line in output(server, code, timeout=120).split()]
    assert dict(zip(LITERALS, answers)) == LITERALS
    assert len(answers) == len(LITERALS)


def test_there_is_no_way_but_the_proxy(server, web):
    code = f"import socket\nsocket.create_connection(('127.0.0.1', {web.port}))"
    result = run(server, code)["structuredContent"]
    assert result["returncode"] == 1 and "Connection refused" in result["stderr"]
    result = run(server, "import socket\nsocket.create_connection(('192.0.2.1', 80))")
    assert "Network is unreachable" in result["structuredContent"]["stderr"]
    assert "only through the proxy" in result["content"][0]["text"]


def test_a_redirect_leads_to_nothing_that_is_not_named(server, web):
    url = f"http://127.0.0.1:{web.port}/to/"
    assert "hello" in output(server, FETCH.format(f"{url}127.0.0.1:{web.port}/"))
    for host in (f"127.0.0.1:{web.other}", "169.254.169.254", "10.0.0.1"):
        result = run(server, FETCH.format(url + host + "/"))["structuredContent"]
        assert "HTTPError: HTTP Error 403: " in result["stderr"], result


def test_a_name_that_leads_to_this_machine_is_refused(web):
    name = socket.gethostname().split(".")[0].lower()
    try:
        addresses = {each[4][0] for each in socket.getaddrinfo(name, None)}
    except OSError:
        addresses = set()
    if not addresses or not all(address.startswith(("127.", "10.", "172.", "192.168.", "::1", "fe80"))
                                for address in addresses):
        pytest.skip("the name of this machine leads to no private address")
    with serving([f"{name}:{web.port}"]) as server:
        result = run(server, FETCH.format(f"http://{name}:{web.port}/"))["structuredContent"]
    assert "HTTP Error 403: " in result["stderr"] and "which is no address of the internet" in result["stderr"]


@pytest.fixture(scope="module")
def resolved():
    """A server on a machine where names lead to what resolving.py says."""
    if subprocess.run([*RESOLVING, "/bin/true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine gives a test no network of its own")
    with serving([f"{name}:80" for name in resolving.ADDRESSES], [*RESOLVING, os.environ["PYEXECD"]]) as server:
        yield server


def fetched(server, url):
    """The status of the answer for URL, a blank, and its text."""
    code = ("import urllib.error, urllib.request\n"
            f"try:\n    answer = urllib.request.urlopen({url!r}, timeout=120)\n"
            "except urllib.error.HTTPError as error:\n    answer = error\n"
            "print(answer.status, answer.read().decode())")
    return output(server, code, timeout=240).strip()


def test_what_is_connected_is_what_was_checked(resolved):
    """A name that leads to the internet when it is asked first, and to this machine from then on."""
    assert fetched(resolved, "http://rebinding.test/") == f"200 {resolving.PUBLIC}, asked 1"
    for _ in range(2):
        said = fetched(resolved, "http://rebinding.test/")
        assert said.startswith("403 rebinding.test:80 is at 127.0.0.1, which is no address of the internet"), said


def test_only_public_addresses_of_a_name_are_connected(resolved):
    assert fetched(resolved, "http://both.test/").startswith(f"200 {resolving.PUBLIC}, ")
    assert fetched(resolved, "http://many.test/").startswith(f"200 {resolving.PUBLIC}, ")


@pytest.mark.parametrize("name, address", [
    ("own.test", "127.0.0.1"), ("own-six.test", "::1"), ("mapped.test", "127.0.0.1"), ("nowhere.test", "0.0.0.0"),
    ("link.test", "169.254.169.254"), ("link-six.test", "fe80::1")])
def test_a_name_that_leads_to_no_public_address_is_refused(resolved, name, address):
    assert fetched(resolved, f"http://{name}/").startswith(f"403 {name}:80 is at {address}, which is no address")


def test_a_public_address_of_this_machine_is_refused(resolved):
    said = fetched(resolved, "http://own-public.test/")
    assert said.startswith(f"403 own-public.test:80 is at {resolving.OWN_PUBLIC}, which is an address of this machine"), said


def test_a_redirect_to_a_private_address_is_refused(resolved):
    url = "http://public.test/to/"
    assert fetched(resolved, url + "both.test/").startswith(f"200 {resolving.PUBLIC}, ")
    for host in ("own.test", "own-six.test", "link.test"):
        assert "which is no address of the internet" in fetched(resolved, f"{url}{host}/")
    for host in ("169.254.169.254", "10.0.0.1", resolving.PUBLIC):
        assert f"403 {host}:80 is not among the hosts" in fetched(resolved, f"{url}{host}/")


def test_a_name_that_nobody_answers_for_holds_up_nobody(resolved):
    code = """
import http.client, socket, urllib.request
held = [socket.create_connection(("127.0.0.1", 3128)) for _ in range(40)]
for each in held:
    each.sendall(b"CONNECT silent.test:80 HTTP/1.1\\r\\n\\r\\n")
print(urllib.request.urlopen("http://public.test/").status)
print({each.recv(100).split(b"\\r\\n")[0] for each in held})
"""
    assert output(resolved, code, timeout=240) == \
        "200\n{b'HTTP/1.1 502 silent.test: Temporary failure in name resolution'}\n"


SOCKS = """
import socket, struct
def ask(kind, address, port):
    connection = socket.create_connection(("127.0.0.1", 3128))
    connection.sendall(bytes([5, 1, 0, 5, 1, 0, kind]) + address + struct.pack(">H", port))
    answer = b""
    while len(answer) < 12:
        more = connection.recv(12 - len(answer))
        if not more:
            break
        answer += more
    return connection, answer[3]
"""


def test_socks_goes_the_same_way(server, web):
    code = SOCKS + f"""
connection, answer = ask(1, bytes([127, 0, 0, 1]), {web.port})
connection.sendall(b"GET / HTTP/1.0\\r\\nHost: there\\r\\n\\r\\n")
print(answer, connection.makefile().read().splitlines()[-1])
print(ask(3, b"\\x0cname.example", 443)[1], ask(1, bytes([169, 254, 169, 254]), 80)[1],
      ask(4, bytes(15) + bytes([1]), {web.port})[1], ask(3, b"\\x0cname.invalid", 80)[1])
"""
    assert output(server, code, timeout=120) == "0 hello from there\n2 2 2 4\n"


def test_a_thousand_connections_do_no_harm(server, web):
    code = f"""
import socket
request = b"GET http://127.0.0.1:{web.port}/ HTTP/1.1\\r\\n\\r\\n"
held = [socket.create_connection(("127.0.0.1", 3128)) for _ in range(1000)]
for each in held:
    each.sendall(request)
answers = 0
for each in held:
    answers += each.recv(100).startswith(b"HTTP/1.0 200 ")
    each.close()
print(answers)
"""
    assert output(server, code, timeout=300) == "1000\n"
    assert "hello" in output(server, FETCH.format(f"http://127.0.0.1:{web.port}/"))


def test_a_peer_that_never_answers_holds_up_nobody(server, web, silent):
    code = f"""
import socket, urllib.request
for _ in range(40):
    quiet = socket.create_connection(("127.0.0.1", 3128))
    quiet.sendall(b"CONNECT 127.0.0.1:{silent} HTTP/1.1\\r\\n\\r\\n")
    assert b" 200 " in quiet.recv(100)
    globals().setdefault("held", []).append(quiet)
print(urllib.request.urlopen("http://127.0.0.1:{web.port}/").read().decode())
"""
    assert output(server, code) == f"hello from 127.0.0.1:{web.port}\n"


@pytest.fixture(scope="module")
def full():
    """A port whose queue is full: who connects to it waits in vain."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        with socket.create_connection(address), contextlib.closing(socket.socket()) as second:
            second.setblocking(False)
            second.connect_ex(address)
            yield address[1]


def test_who_makes_the_proxy_wait_is_given_up(web, full):
    """A destination that takes no connection, and a program that does not finish its request."""
    code = f"""
import socket, urllib.request
def begin(request):
    connection = socket.create_connection(("127.0.0.1", 3128))
    connection.sendall(request)
    return connection
waiting = begin(b"CONNECT 127.0.0.1:{full} HTTP/1.1\\r\\n\\r\\n")
unfinished = [begin(request) for request in (b"GET http://127.0.0.1:{full}/ HTTP/1.1\\r\\n", b"\\x05", b"\\x05\\x01\\x00\\x05")]
print(urllib.request.urlopen("http://127.0.0.1:{web.port}/").status)
print(waiting.recv(100).split(b"\\r\\n")[0].decode())
print([each.recv(100) for each in unfinished])
"""
    with serving([f"127.0.0.1:{web.port}", f"127.0.0.1:{full}"]) as server:
        assert output(server, code, timeout=240).splitlines() == [
            "200", f"HTTP/1.1 504 127.0.0.1:{full}: Connection timed out", "[b'', b'', b'\\x05\\x00']"]


def test_variables_of_the_operator_win(web):
    code = "import os\nprint(os.environ['HTTPS_PROXY'], os.environ['https_proxy'], os.environ['NO_PROXY'])"
    with serving([f"127.0.0.1:{web.port}"], environment={"HTTPS_PROXY": "http://other:1"}) as server:
        assert output(server, code) == "http://other:1 http://127.0.0.1:3128 localhost,::1\n"


def test_a_script_does_not_see_its_proxy(server):
    code = """
import os, signal
others = [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (1, os.getpid())]
try:
    os.kill(-1, signal.SIGKILL)
except ProcessLookupError:
    print(others, "and nobody to kill")
"""
    assert output(server, code) == "[] and nobody to kill\n"


def proxies(pid):
    return [each for each in leftovers.descendants(pid) if PROXY in leftovers.read(f"/proc/{each}/cmdline")]


def start_long_run(server):
    """The pids of its proxy, when it has one; that of the run before is gone."""
    assert leftovers.until(lambda: not proxies(server.process.pid))
    server.start_tool("run_python", {"code": "import time\ntime.sleep(600)", "timeout": 600})
    found = []
    assert leftovers.until(lambda: found.extend(proxies(server.process.pid)) or found)
    return found


def filters(pid):
    """How many filters of system calls hold the process PID; Linux before 5.9 does not say."""
    found = re.search(rb"^Seccomp_filters:\s(\d+)", leftovers.read(f"/proc/{pid}/status"), re.MULTILINE)
    return int(found.group(1)) if found else pytest.skip("the kernel does not say how a process is held")


def test_a_proxy_is_held_more_narrowly_than_a_script(web):
    with serving([f"127.0.0.1:{web.port}"]) as server:
        (proxy,) = start_long_run(server)
        supervisor = leftovers.parent_and_state(proxy)[0]
        # That of every program, and its own.
        assert leftovers.until(lambda: filters(proxy) == filters(supervisor) + 2)


def test_a_proxy_ends_with_its_run(server):
    assert output(server, "print(1)") == "1\n"
    assert leftovers.until(lambda: not proxies(server.process.pid))


def test_a_server_that_is_killed_leaves_no_proxy(server, web):
    with contextlib.closing(client.Server(config=config([f"127.0.0.1:{web.port}"]))) as killed:
        killed.initialize()
        found = start_long_run(killed)
        killed.kill()
        assert leftovers.until(lambda: not leftovers.alive(found))


def test_a_result_names_what_it_reached(server, web):
    containment = run(server, "pass")["structuredContent"]["containment"]
    assert f"127.0.0.1:{web.port}" in containment["network"]
    assert containment["layers"]["own network"] == "enforced"


def test_what_is_open_is_said_before_the_first_call(server, web):
    said = server.find_tool()["inputSchema"]["properties"]["environment"]["description"]
    assert f"; of the network only 127.0.0.1:{web.port}, " in said, said


def test_doctor_names_what_is_open(server, web, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("environments:\n  held: {type: system, isolation: sandbox, network: [127.0.0.1:80, a.example:443]}\n")
    said = subprocess.run([os.environ["PYEXECD"], "doctor", "--config", path], capture_output=True,
                          text=True, check=False).stdout
    assert "  network " in said and "127.0.0.1:80, a.example:443\n" in said, said


def test_a_host_that_is_none_is_an_error_of_the_configuration(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("environments:\n  held:\n    type: system\n    isolation: sandbox\n"
                    "    network:\n      - packages.example.org:443\n      - packages.example.org\n      - '*:443'\n")
    checked = subprocess.run([os.environ["PYEXECD"], "--config", path, "--check-config"],
                             capture_output=True, text=True, check=False)
    assert checked.returncode == 78
    assert f"{path}:7:9: environments.held.network.1: must be a host and a port, such as " in checked.stderr
    assert f"{path}:8:9: environments.held.network.2: must be a host and a port" in checked.stderr
