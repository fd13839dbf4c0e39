"""What the server tells of itself on its admin address: /healthz and /metrics."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import client
import http_peer
import leftovers
import ports
import pytest
from client import RpcError, Server


def serve(admin, **more):
    return Server(transport="unix", config={"admin": admin, **more})


def ask(address, path, method="GET", host=None, **fields):
    """ADDRESS: a port, or the path of a socket."""
    if isinstance(address, int):
        stream = socket.create_connection(("127.0.0.1", address))
    else:
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(str(address))
    host = host or (f"127.0.0.1:{address}" if isinstance(address, int) else "localhost")
    return http_peer.Exchange(stream, http_peer.request(method, path, {"Host": host, **fields})).wait()


@pytest.fixture
def port():
    return ports.free_port()


def scrape(address):
    """The values of /metrics: {'name{labels}': value}."""
    answer = ask(address, "/metrics")
    assert answer.status == 200
    assert answer.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {name: float(value) for name, value in
            (line.rsplit(" ", 1) for line in answer.body.decode().splitlines() if line[0] != "#")}


@pytest.mark.parametrize("first", ["", "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n"])
def test_health_is_told_while_others_idle(port, first):
    with serve(f"http://127.0.0.1:{port}") as server, contextlib.ExitStack() as crowd:
        server.initialize()
        for _ in range(16):
            idle = crowd.enter_context(socket.create_connection(("127.0.0.1", port)))
            idle.sendall(first.format(port).encode())
            if first:
                assert idle.recv(1000).startswith(b"HTTP/1.1 200 ")
        for _ in range(3):
            assert ask(port, "/healthz").status == 200


def test_health(port):
    with serve(f"http://127.0.0.1:{port}") as server:
        server.initialize()
        answer = ask(port, "/healthz")
        assert answer.status == 200
        assert answer.fields["cache-control"] == "no-store"
        health = answer.json()
        assert health.keys() == {"status", "version", "uptime"}
        assert health["status"] == "ok"
        assert 0 <= health["uptime"] < 60
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=client.TIMEOUT)
        connection.request("HEAD", "/healthz")
        head = connection.getresponse()
        assert (head.status, head.read()) == (200, b"")
        connection.close()


def test_a_unix_socket_is_an_address_too(tmp_path):
    with serve(f"unix://{tmp_path}/admin") as server:
        server.initialize()
        assert ask(tmp_path / "admin", "/healthz").json()["status"] == "ok"
    assert not (tmp_path / "admin").exists()


ANSWERED = 'pyexecd_tool_calls_total{tool="run_python",outcome="success"}'


def test_while_the_server_stops_it_says_so(port):
    """A client that does not read holds the end up."""
    with serve(f"http://127.0.0.1:{port}") as server:
        server.initialize()
        server.send_line(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "run_python", "arguments": {"code": "print('x' * 1000000)"},
            "_meta": client.STRUCTURED}}))
        assert leftovers.until(lambda: scrape(port).get(ANSWERED) == 1)
        server.process.send_signal(signal.SIGTERM)
        answer = ask(port, "/healthz")
        assert (answer.status, answer.json()["status"]) == (503, "stopping")
        assert server.wait_exit() == 0


def test_what_is_counted(port):
    with serve(f"http://127.0.0.1:{port}", timeout=100,
               limits={"concurrent_runs": 1, "queued_runs": 4}) as server:
        server.initialize()
        before = scrape(port)
        assert before["pyexecd_connections"] == 1
        assert not [name for name in before if name.startswith("pyexecd_runs_total{")]
        for code in ("print(1)", "print(2)", "1/0"):
            server.call_tool("run_python", {"code": code})
        server.call_tool("run_python", {"code": "while True: pass", "timeout": 2})
        for _ in range(4):
            last = server.start_tool("run_python", {"code": "import time; time.sleep(100)"})
        server.wait(last)  # it was told that the server is busy
        busy = scrape(port)
        assert (busy["pyexecd_runs_running"], busy["pyexecd_run_queue_length"]) == (1, 2)
        for request in range(last - 1, last - 4, -1):  # none takes the place of another
            server.cancel(request)
        server.request("ping")
        assert leftovers.until(lambda: scrape(port)["pyexecd_runs_running"] == 0, client.TIMEOUT)
        with pytest.raises(RpcError):
            server.call_tool("nothing", {})
        after = scrape(port)

        def runs(outcome):
            return after[f'pyexecd_runs_total{{environment="system",outcome="{outcome}"}}']

        assert [runs(outcome) for outcome in ("success", "error", "timeout", "cancelled")] == [2, 1, 1, 3]

        def calls(tool, outcome):
            return after[f'pyexecd_tool_calls_total{{tool="{tool}",outcome="{outcome}"}}']

        assert calls("run_python", "success") == 2
        assert calls("run_python", "error") == 2
        assert calls("run_python", "failed") == 1
        assert calls("run_python", "cancelled") == 3
        assert calls("unknown", "refused") == 1
        assert after['pyexecd_requests_refused_total{reason="busy"}'] == 1
        assert after['pyexecd_run_duration_seconds_count{environment="system"}'] == 5
        assert 0.5 < after['pyexecd_run_duration_seconds_sum{environment="system"}'] < 600
        assert after['pyexecd_run_duration_seconds_bucket{environment="system",le="+Inf"}'] == 5
        assert after['pyexecd_run_queue_wait_seconds_count{environment="system"}'] == 5
        assert abs(after["process_start_time_seconds"] - time.time()) < 120
        assert after["process_resident_memory_bytes"] > 1 << 20
        assert any(re.fullmatch(r'pyexecd_build_info{version="[\d.]+"}', name) for name in after)


def test_sessions_of_python_are_counted(port):
    with Server(transport="http", config={"admin": f"http://127.0.0.1:{port}", "sessions": {}}) as server:
        server.initialize()
        assert scrape(port)["pyexecd_python_sessions"] == 0
        begun = server.call_tool("run_python", {"code": "x = 1", "session": "new"})
        assert scrape(port)["pyexecd_python_sessions"] == 1
        server.call_tool("manage_sessions", {"action": "close",
                                             "session": begun["structuredContent"]["session"]["name"]})
        assert leftovers.until(lambda: scrape(port)["pyexecd_python_sessions"] == 0)


def test_reloads_and_refusals_are_counted(port):
    with Server(transport="http", config={"admin": f"http://127.0.0.1:{port}"}) as server:
        server.initialize()
        assert scrape(port)["pyexecd_sessions"] == 1
        address = server.address[1]
        assert ask(address, "/mcp", "POST", host="evil.example").status == 421
        assert ask(address, "/mcp", "POST", Origin="http://evil.example").status == 403
        for outcome in ("success", "refused"):
            server.process.send_signal(signal.SIGHUP)
            assert leftovers.until(
                lambda: scrape(port).get(f'pyexecd_reloads_total{{outcome="{outcome}"}}'),
                client.TIMEOUT)
            (server.folder / "config.yaml").write_text("x: 1")
        told = scrape(port)
        assert told['pyexecd_requests_refused_total{reason="host"}'] == 1
        assert told['pyexecd_requests_refused_total{reason="forbidden"}'] == 1


def test_calls_beyond_what_a_client_may_make_are_counted(port, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("t" * 43)
    tokens.chmod(0o600)
    with Server(transport="tcp", config={"admin": f"http://127.0.0.1:{port}",
                                         "token_file": str(tokens),
                                         "limits": {"calls_per_minute": 3}}) as server:
        server.initialize()
        for _ in range(3):
            server.call_tool("run_python", {"code": "print(1)"})
        server.token = "u" * 43
        with contextlib.closing(server.connect()) as stranger:
            with pytest.raises((EOFError, AssertionError)):
                stranger.initialize()
        told = scrape(port)
        assert told['pyexecd_requests_refused_total{reason="rate_limit"}'] == 2
        assert told['pyexecd_requests_refused_total{reason="token"}'] == 1


def test_environments_that_calls_define_are_one(port):
    with serve(f"http://127.0.0.1:{port}", callers={"define_environments": True}) as server:
        server.initialize()
        for value in range(3):
            server.call_tool("run_python", {"code": "print(1)", "environment_definition": {
                "type": "system", "timeout": 5 + value}})
        told = scrape(port)
        assert told['pyexecd_runs_total{environment="inline",outcome="success"}'] == 3


@pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool")
def test_prometheus_finds_nothing_to_complain_about(port):
    with serve(f"http://127.0.0.1:{port}") as server:
        server.initialize()
        for code in ("print(1)", "1/0"):
            server.call_tool("run_python", {"code": code})
        ask(port, "/nothing")
        server.process.send_signal(signal.SIGHUP)
        assert leftovers.until(
            lambda: 'pyexecd_reloads_total{outcome="success"}' in scrape(port), client.TIMEOUT)
        checked = subprocess.run(["promtool", "check", "metrics"], capture_output=True, text=True,
                                 input=ask(port, "/metrics").body.decode(), check=False)
        assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_others_are_told_nothing(port):
    with serve(f"http://127.0.0.1:{port}") as server:
        server.initialize()
        for answer, status in ((ask(port, "/healthz", host="evil.example"), 421),
                               (ask(port, "/healthz", Origin=f"http://127.0.0.1:{port}"), 403),
                               (ask(port, "/metrics", "POST"), 405),
                               (ask(port, "/mcp"), 404), (ask(port, "/"), 404)):
            assert answer.status == status
            assert b"pyexecd_" not in answer.body


@pytest.mark.parametrize("address", ["http://0.0.0.0:9090", "http://192.0.2.1:9090", "http://[::]:9090",
                                     "tcp:127.0.0.1:9090", "stdio", "http://127.0.0.1:99999"])
def test_it_is_for_this_machine_only(tmp_path, address):
    path = tmp_path / "config.yaml"
    path.write_text(f'admin: "{address}"\n')
    path.chmod(0o600)
    checked = subprocess.run([os.environ["PYEXECD"], "--config", path, "--check-config"],
                             capture_output=True, text=True, check=False)
    assert checked.returncode == 78
    assert checked.stderr.startswith(f"{path}:1:8: admin: ")


def test_what_waits_is_counted(port):
    with serve(f"http://127.0.0.1:{port}") as server:
        server.initialize()
        assert scrape(port)["pyexecd_pythons_waiting"] == 0
        server.call_tool("run_python", {"code": "print(1)"})
        assert leftovers.until(lambda: scrape(port)["pyexecd_pythons_waiting"] >= 1)
        page = scrape(port)
        assert page["pyexecd_zygotes"] in (0, 1)
        assert (page["pyexecd_zygotes_memory_bytes"] > 1 << 20) is (page["pyexecd_zygotes"] == 1)
