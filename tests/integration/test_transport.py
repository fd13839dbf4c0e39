"""How clients reach the program, and how each way ends."""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import signal
import socket
import stat
import struct
import subprocess
import sys
import time

import pytest

import client
import leftovers

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
PONG = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
TOKEN = "a-token-that-nobody-guesses"
START_SECONDS = 60
MEBIBYTE = 1 << 20


def program(*arguments):
    return [os.environ["PYEXECD"], *map(str, arguments)]


def call(code, request_id=2):
    """The lines of an initialize and a call of run_python."""
    initialize = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
                  "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                             "clientInfo": client.CLIENT_INFO}}
    tool = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call",
            "params": {"name": "run_python", "arguments": {"code": code},
                       "_meta": client.STRUCTURED}}
    return b"".join(json.dumps(message).encode() + b"\n" for message in (initialize, tool))


def receive_all(stream, timeout=client.TIMEOUT):
    """Everything up to the end of file."""
    stream.settimeout(timeout)
    data = b""
    while piece := stream.recv(65536):
        data += piece
    return data


def receive_exactly(stream, length, timeout=client.TIMEOUT):
    stream.settimeout(timeout)
    data = b""
    while len(data) < length:
        piece = stream.recv(length - len(data))
        assert piece, f"end of file after {data!r}"
        data += piece
    return data


def ask(stream, timeout=client.TIMEOUT):
    """A ping and its answer."""
    stream.sendall(PING)
    assert receive_exactly(stream, len(PONG), timeout) == PONG


@contextlib.contextmanager
def running(*arguments, **options):
    """The program with ARGUMENTS, killed at the end if it still runs."""
    process = subprocess.Popen(program(*arguments), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def connect(address, process=None):
    """A connection to ADDRESS, a path or (host, port), as soon as somebody listens there."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    deadline = time.monotonic() + START_SECONDS
    while True:
        stream = socket.socket(family)
        try:
            stream.connect(address)
            return stream
        except (FileNotFoundError, ConnectionRefusedError):
            stream.close()
            assert process is None or process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline, f"nobody listens at {address}"
            time.sleep(0.01)


def wait_for(path, timeout=client.TIMEOUT):
    assert leftovers.until(path.exists, timeout), f"{path} did not appear"


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


# Standard input and output


def test_stdio_answers_what_was_piped_in():
    """In one of several tries: a script has a second from the end of the input, which a busy machine may
    not give it for minutes."""
    def answered():
        ended = subprocess.run(program(), input=call("print(6 * 7)").rstrip(b"\n"),
                               capture_output=True, timeout=client.TIMEOUT)
        assert ended.returncode == 0
        return [json.loads(line) for line in ended.stdout.splitlines()][1:]

    (answer,) = leftovers.until(answered, 300)
    assert answer["result"]["structuredContent"]["stdout"] == "42\n"


@pytest.mark.parametrize("params", [br'{"a":"\ud800"}', br'{"a\u0000b":1}', b'{"a":"\xff"}'],
                         ids=["half a character", "NUL in a name", "not UTF-8"])
def test_who_sends_what_cannot_be_parsed_does_not_wait_for_ever(params):
    request = b'{"jsonrpc":"2.0","id":"mine","method":"ping","params":' + params + b"}\n"
    done = subprocess.run(program(), input=request, capture_output=True, timeout=START_SECONDS)
    answer = json.loads(done.stdout)
    assert (answer["id"], answer["error"]["code"]) == ("mine", -32700)


def test_stdio_can_be_a_regular_file(tmp_path):
    requests = tmp_path / "requests"
    answers = tmp_path / "answers"
    requests.write_bytes(PING)
    with requests.open("rb") as stdin, answers.open("wb") as stdout:
        assert subprocess.run(program(), stdin=stdin, stdout=stdout,
                              timeout=client.TIMEOUT).returncode == 0
    assert answers.read_bytes() == PONG


def test_the_end_of_stdin_ends_a_long_call_and_the_program(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({"working_directory": str(tmp_path)}))
    config.chmod(0o600)
    process = subprocess.Popen(program("-c", config), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(call("import time; open('started', 'w'); time.sleep(60)"))
    process.stdin.flush()
    wait_for(tmp_path / "started")
    closed = time.monotonic()
    output, _ = process.communicate(timeout=client.TIMEOUT)
    assert time.monotonic() - closed < 20  # before the call ends by itself
    assert process.returncode == 0
    assert len(output.splitlines()) == 1  # of initialize


def test_a_closed_stdout_ends_the_program():
    process = subprocess.Popen(program(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(PING)
    process.stdin.flush()
    assert process.stdout.readline() == PONG
    process.stdout.close()
    process.stdin.write(PING)
    process.stdin.flush()
    assert process.wait(client.TIMEOUT) == 0
    process.stdin.close()


def test_stdio_that_is_shared_stays_blocking():
    ours, theirs = os.pipe()
    process = subprocess.Popen(program(), stdin=ours, stdout=subprocess.PIPE)
    os.write(theirs, PING)
    assert process.stdout.readline() == PONG
    assert not fcntl.fcntl(ours, fcntl.F_GETFL) & os.O_NONBLOCK
    assert not fcntl.fcntl(process.stdout.fileno(), fcntl.F_GETFL) & os.O_NONBLOCK
    process.kill()  # nobody could put anything back
    process.wait()
    assert not fcntl.fcntl(ours, fcntl.F_GETFL) & os.O_NONBLOCK
    for descriptor in (ours, theirs):
        os.close(descriptor)
    process.stdout.close()


def test_stdio_can_be_one_socket():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(program(), stdin=theirs, stdout=theirs)
        theirs.close()
        ask(ours)
        ours.shutdown(socket.SHUT_WR)
        assert receive_all(ours) == b""
        assert process.wait(client.TIMEOUT) == 0


# Unix sockets


def test_a_unix_socket_is_private_and_removed_at_the_end(tmp_path):
    path = tmp_path / "new" / "socket"
    with running("--listen", f"unix:{path}") as process:
        with connect(str(path), process) as stream:
            ask(stream)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        process.send_signal(signal.SIGTERM)
        assert process.wait(client.STOP_TIMEOUT) == 0
    assert not path.exists()


def test_a_socket_that_a_killed_server_left_is_taken_over(tmp_path):
    path = tmp_path / "socket"
    with running("--listen", f"unix:{path}") as process:
        connect(str(path), process).close()
        process.kill()
    assert path.exists()
    takes_over(path)


def test_a_socket_that_a_child_of_a_killed_server_still_has_is_taken_over(tmp_path):
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listener, subprocess.Popen(
            [sys.executable, "-c", LISTEN, str(path)], stdout=subprocess.PIPE) as process:
        child = int(process.stdout.readline())
        try:
            assert process.wait(START_SECONDS) == 0
            listener.connect(str(path))
            takes_over(path)
        finally:
            os.kill(child, signal.SIGKILL)


# Listens at the path and ends; its child, whose number it prints, keeps the socket.
LISTEN = """import os, socket, sys, time
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
child = os.fork()
if not child: time.sleep(100)
print(child, flush=True)
os._exit(0)
"""


def takes_over(path):
    with running("--listen", f"unix:{path}") as process:
        assert leftovers.until(lambda: process.poll() is not None or can_ask(path), START_SECONDS)
        assert process.poll() is None, process.stderr.read()


def can_ask(path):
    try:
        with socket.socket(socket.AF_UNIX) as stream:
            stream.connect(str(path))
            ask(stream, 5)
        return True
    except (ConnectionRefusedError, ConnectionResetError, TimeoutError):  # the one that was left
        return False


def test_a_second_server_leaves_the_first_alone(tmp_path):
    path = tmp_path / "socket"
    with running("--listen", f"unix:{path}") as process:
        with connect(str(path), process) as stream:
            second = subprocess.run(program("--listen", f"unix:{path}"), capture_output=True,
                                    timeout=client.TIMEOUT, text=True)
            assert second.returncode != 0
            assert f"cannot serve unix:{path}: another server listens there" in second.stderr
            ask(stream)
        with connect(str(path)) as stream:
            ask(stream)


def test_a_directory_that_others_can_write_is_refused(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    ended = subprocess.run(program("--listen", f"unix:{folder}/socket"), capture_output=True,
                           timeout=client.TIMEOUT, text=True)
    assert ended.returncode != 0
    assert "can be written by others (mode 0777)" in ended.stderr


# TCP


def test_tcp_serves_who_shows_the_token(token_file):
    with client.Server(transport="tcp", config={"token_file": str(token_file)}) as server:
        server.initialize()
        assert server.list_tools()
        with connect(server.address) as stream:  # the token and a request in one packet
            stream.sendall(f"authorization: bearer {TOKEN}\r\n".encode() + PING)
            assert receive_exactly(stream, len(PONG)) == PONG


@pytest.mark.parametrize("line", ["Authorization: Bearer wrong", f"Authorization: {TOKEN}",
                                  PING.decode().strip(), ""])
def test_tcp_refuses_who_does_not(token_file, line):
    with client.Server(transport="tcp", config={"token_file": str(token_file)}) as server:
        with connect(server.address) as stream:
            stream.sendall(line.encode() + b"\n" + PING)
            answer = json.loads(receive_all(stream))
        assert answer == {"jsonrpc": "2.0", "id": None,
                          "error": {"code": -32600, "message": "Unauthorized"}}
        assert TOKEN not in server.stderr()


def test_tcp_without_token_needs_to_be_told():
    ended = subprocess.run(program("--listen", "tcp:127.0.0.1:0"), capture_output=True, text=True,
                           timeout=client.TIMEOUT)
    assert ended.returncode == 78
    assert "`token_file`" in ended.stderr and "`auth: none`" in ended.stderr


def test_a_web_page_does_not_get_through():
    request = (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n"
               b"Content-Type: text/plain\r\nContent-Length: 41\r\n\r\n" + PING)
    with client.Server(transport="tcp") as server:
        with connect(server.address) as stream:
            stream.sendall(request)
            answer = receive_all(stream)
        assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert b"does not speak HTTP" in answer
        assert PONG not in answer
        with connect(server.address) as stream:
            ask(stream)


def test_localhost_is_both_families_on_the_port_that_the_log_names(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("listen: ['tcp:localhost:0']\nauth: none\n")
    config.chmod(0o600)
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(program("--config", config, "--log-level", "info"),
                                   stdin=subprocess.DEVNULL, stderr=stderr)
    try:
        pattern = re.compile(r"listening address=tcp:(127\.0\.0\.1|\[::1\]):(\d+)")
        assert leftovers.until(lambda: pattern.search(log.read_text()), START_SECONDS)
        time.sleep(0.1)
        found = dict(pattern.findall(log.read_text()))
        assert len(set(found.values())) == 1
        for host, port in found.items():
            with socket.create_connection((host.strip("[]"), int(port))) as stream:
                ask(stream)
    finally:
        process.kill()
        process.wait()


# Clients that end, half or whole


@pytest.fixture(params=["unix", "tcp"])
def server(request, tmp_path):
    with client.Server(transport=request.param,
                       config={"working_directory": str(tmp_path)}) as server:
        yield server


def test_half_close_waits_for_the_answer(server):
    with connect(server.address) as stream:
        stream.sendall(call("import time; time.sleep(0.5); print('late')"))
        stream.shutdown(socket.SHUT_WR)
        answers = [json.loads(line) for line in receive_all(stream).splitlines()]
    assert answers[1]["result"]["structuredContent"]["stdout"] == "late\n"


def test_close_ends_the_calls_of_that_client(server, tmp_path):
    code = """
import time
while True:
    open("beat", "w").close()
    time.sleep(0.01)
"""
    with connect(server.address) as stream:
        stream.sendall(call(code))
        wait_for(tmp_path / "beat")
    assert leftovers.until(lambda: not beats(tmp_path / "beat"))
    server.initialize()
    assert not server.call_tool("run_python", {"code": "print(1)"})["isError"]


def beats(path):
    before = path.stat().st_mtime_ns
    time.sleep(0.1)
    return path.stat().st_mtime_ns != before


def test_a_reset_harms_nobody(server):
    for _ in range(20):
        stream = connect(server.address)
        stream.sendall(call("print('x' * 100000)"))
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.close()
    server.initialize()
    assert not server.call_tool("run_python", {"code": "print(1)"})["isError"]


def test_a_client_that_does_not_read_harms_nobody(server):
    server.initialize()
    with connect(server.address) as idle:
        idle.sendall(call("print('x' * 900000)"))
        idle.setblocking(False)
        sent, until = 0, time.monotonic() + 2
        while time.monotonic() < until and sent < 64 * MEBIBYTE:
            try:
                sent += idle.send(PING * 1000)
            except BlockingIOError:
                time.sleep(0.01)
        assert server.request("ping") == {}
        assert sent < 64 * MEBIBYTE  # reading from it has stopped


# Too much of anything


def memory_of(process):
    """Resident bytes."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.M).group(1)) * 1024


@pytest.mark.plain
@pytest.mark.skipif(leftovers.sanitized(), reason="a sanitizer needs memory of its own")
def test_a_line_of_100_mebibytes_costs_little_memory(server):
    server.initialize()
    before = memory_of(server.process)
    with connect(server.address) as stream:
        piece = b"x" * MEBIBYTE
        for _ in range(100):
            stream.sendall(piece)
        stream.sendall(b"\n" + PING)
        stream.shutdown(socket.SHUT_WR)
        refusal, pong = receive_all(stream).splitlines(keepends=True)
    assert json.loads(refusal)["error"]["code"] == -32600
    assert json.loads(refusal)["id"] is None
    assert pong == PONG
    assert memory_of(server.process) - before < 16 * MEBIBYTE


def has_room(server):
    with connect(server.address) as stream:
        stream.sendall(PING)
        return receive_exactly(stream, len(PONG)) == PONG


def test_300_connections_are_too_many_and_no_harm(server):
    served = 0
    with contextlib.ExitStack() as kept:
        for _ in range(300):
            stream = kept.enter_context(connect(server.address))
            with contextlib.suppress(ConnectionError, AssertionError):  # refused: reset, or closed
                stream.sendall(PING)
                served += receive_exactly(stream, len(PONG)) == PONG
    assert 1 <= served <= 32
    assert leftovers.until(lambda: has_room(server))
    server.initialize()
    assert server.stderr().count("too many connections") < 10


# Several at once


def test_stdio_and_sockets_are_served_together(tmp_path):
    path = tmp_path / "socket"
    process = subprocess.Popen(program("--listen", "stdio", "--listen", f"unix:{path}"),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(PING)
    process.stdin.flush()
    assert process.stdout.readline() == PONG
    with connect(str(path)) as stream:
        ask(stream)
        process.stdin.close()
        assert process.wait(client.STOP_TIMEOUT) == 0
    assert not path.exists()
    process.stdout.close()


def test_one_bad_address_and_none_is_opened(tmp_path):
    path = tmp_path / "socket"
    ended = subprocess.run(
        program("--listen", f"unix:{path}", "--listen", "tcp:0.0.0.0:7000"),
        capture_output=True, text=True, timeout=client.TIMEOUT)
    assert ended.returncode == 78
    assert "everybody who reaches this machine could connect" in ended.stderr
    assert not path.exists()


# Service managers


@pytest.mark.parametrize("abstract", [False, True])
def test_a_service_manager_is_told(tmp_path, abstract):
    name = f"\0pyexecd-test-{os.getpid()}" if abstract else str(tmp_path / "manager")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name)
        manager.settimeout(client.TIMEOUT)
        environment = {**os.environ, "NOTIFY_SOCKET": name.replace("\0", "@"),
                       "WATCHDOG_USEC": "200000"}
        with running("--listen", f"unix:{tmp_path}/socket", env=environment) as process:
            assert manager.recv(1000).splitlines()[0] == b"READY=1"
            assert manager.recv(1000) == b"WATCHDOG=1"
            process.send_signal(signal.SIGTERM)
            while (message := manager.recv(1000)) == b"WATCHDOG=1":
                pass
            assert message == b"STOPPING=1"
            assert process.wait(client.STOP_TIMEOUT) == 0
