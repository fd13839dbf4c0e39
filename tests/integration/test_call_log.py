"""What the log says of calls: one line of JSON for each, without code or output; and their traces."""

import hashlib
import json
import os
import pty
import re
import subprocess
import time

import client
import leftovers
import pytest
import wire
from client import Connection, RpcError, Server

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
SHOW = "import os; print(os.environ.get('TRACEPARENT'), os.environ.get('TRACESTATE'))"


def serve(*arguments, **more):
    return Server("--log-level", "info", *arguments, **more)


def lines(server):
    return [json.loads(line) for line in server.stderr().splitlines() if line.startswith("{")]


def last(server, count=1):
    """The last line, once there are COUNT."""
    assert leftovers.until(lambda: len(lines(server)) >= count), server.stderr()
    assert len(lines(server)) == count
    return lines(server)[-1]


def run(server, code, meta=None, **arguments):
    params = {"name": "run_python", "arguments": {"code": code, **arguments}}
    return server.request("tools/call", {**params, **({"_meta": meta} if meta else {})})


def test_a_call_has_one_line():
    code = "import sys; print('s3cr3t-output'); print('s3cr3t-error', file=sys.stderr); sys.exit(3)"
    with serve(config={"timeout": 20, "limits": {"memory": "256MiB"}}) as server:
        server.initialize()
        before = time.time()
        run(server, code)
        line = last(server)
        told = server.stderr()
    stamp = line.pop("time")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", stamp)
    assert 0 < line.pop("ms") < (time.time() - before) * 1000
    assert line == {
        "event": "call", "principal": f"uid-{os.getuid()}", "peer": "connection-1",
        "tool": "run_python", "outcome": "error", "environment": "system",
        "code_sha256": hashlib.sha256(code.encode()).hexdigest(), "code_bytes": len(code),
        "timeout": 20.0, "memory": 256 << 20, "processes": 256, "disk": 1 << 30,
        "returncode": 3, "stdout_bytes": 14, "stderr_bytes": 13}
    assert "s3cr3t" not in told


def test_how_a_call_can_end():
    with serve(config={"limits": {"concurrent_runs": 1, "queued_runs": 1}}) as server:
        server.initialize()
        run(server, "print(1)")
        assert last(server)["outcome"] == "success"
        run(server, "while True: pass", timeout=1)
        line = last(server, 2)
        assert (line["outcome"], line["timed_out"]) == ("error", True)
        assert line["signal"] in ("SIGINT", "SIGKILL")
        run(server, 5)
        line = last(server, 3)
        assert (line["outcome"], line["reason"]) == ("refused", "invalid_arguments")
        with pytest.raises(RpcError):
            server.request("tools/call", {"name": "x\u001b\u009b\n" * 100, "arguments": {}})
        line = last(server, 4)
        assert (line["outcome"], line["reason"]) == ("refused", "unknown_tool")
        assert len(line["tool"]) <= 200
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", server.stderr())


def test_a_cancelled_call_has_a_line(tmp_path):
    with serve(config={"working_directory": str(tmp_path)}) as server:
        server.initialize()
        request = server.start_tool("run_python", {"code": "open('begun', 'w')\nimport time; time.sleep(60)"})
        assert leftovers.until((tmp_path / "begun").exists)
        server.cancel(request)
        line = last(server)
        assert (line["outcome"], line["environment"]) == ("cancelled", "system")
        assert "returncode" not in line


def test_a_busy_server_says_so():
    with serve(config={"limits": {"concurrent_runs": 1, "queued_runs": 1}}) as server:
        server.initialize()
        for _ in range(3):
            server.start_tool("run_python", {"code": "import time; time.sleep(60)"})
        line = last(server)
        assert (line["outcome"], line["reason"]) == ("failed", "busy")


def test_by_default_nothing_is_said_of_calls():
    with Server() as server:
        server.initialize()
        run(server, "print(1)")
        assert '"event"' not in server.stderr()


def test_on_a_terminal_it_is_a_line_for_people():
    terminal, other_end = pty.openpty()
    with subprocess.Popen([os.environ["PYEXECD"], "--log-level", "info"], bufsize=0, stderr=other_end,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        os.close(other_end)
        connection = Connection(process.stdout.fileno(), process.stdin.fileno(), process.stdin.close)
        connection.initialize()
        run(connection, "print(1)")
        connection.close()
        assert process.wait(client.STOP_TIMEOUT) == 0
    told = os.read(terminal, 65536).decode()
    os.close(terminal)
    assert re.search(r'pyexecd: call principal="uid-\d+" peer="connection-1" tool="run_python" '
                     r'outcome="success" ms=\d', told)


# Traces


@pytest.mark.parametrize("revision", ["2024-11-05", wire.NEWEST_LEGACY, wire.MODERN])
def test_a_run_is_part_of_the_trace_of_its_call(revision):
    with serve() as server:
        server.initialize(revision)
        result = run(server, SHOW, {"traceparent": PARENT, "tracestate": "a=1,b=2"})
        parent, state = result["content"][0]["text"].split("Code output: ")[1].split()
        version, trace, span, flags = parent.split("-")
        assert (version, trace, flags, state) == ("00", TRACE, "01", "a=1,b=2")
        assert span != SPAN
        assert last(server)["trace_id"] == TRACE


@pytest.mark.parametrize("meta", [
    None, {"tracestate": "a=1"}, {"traceparent": PARENT.upper(), "tracestate": "a=1"},
    {"traceparent": f"00-{'0' * 32}-{SPAN}-01"}, {"traceparent": 5}])
def test_what_is_no_trace_is_none(meta):
    with serve() as server:
        server.initialize()
        result = run(server, SHOW, meta)
        assert result["structuredContent"]["stdout"] == "None None\n"
        assert "trace_id" not in last(server)


@pytest.mark.parametrize("revision", [wire.NEWEST_LEGACY, wire.MODERN])
def test_over_http_the_header_fields_say_it_unless_the_message_does(revision):
    other = PARENT.replace(TRACE, TRACE[::-1])
    with serve(transport="http") as server:
        server.initialize(revision)
        server.http.further = {"traceparent": PARENT, "tracestate": "a=1"}
        assert f"00-{TRACE}-" in json.dumps(run(server, SHOW))
        assert last(server)["trace_id"] == TRACE
        assert f"00-{TRACE[::-1]}-" in json.dumps(run(server, SHOW, {"traceparent": other}))
        assert last(server, 2)["trace_id"] == TRACE[::-1]
