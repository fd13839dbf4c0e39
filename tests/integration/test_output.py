"""What a script prints: all of it is counted, a limit of it is kept, whatever the bytes are."""

import threading

import client
import leftovers
import pytest
from client import Server
from leftovers import Watched

MIB = 1 << 20


@pytest.fixture
def server():
    with Server() as server:
        server.initialize()
        yield server


def run(server, code, **arguments):
    return server.call_tool("run_python", {"code": code, **arguments},
                            timeout=arguments.get("timeout", 0) + client.TIMEOUT)["structuredContent"]


def printing(data):
    """A script that writes DATA as it is."""
    return f"import sys; sys.stdout.buffer.write({data!r})"


class PeakMemory(threading.Thread):
    """Watches the memory of a process until it is stopped."""

    def __init__(self, pid):
        super().__init__()
        self.pid = pid
        self.peak = leftovers.status_kib(pid, "VmRSS")
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.wait(0.005):
            self.peak = max(self.peak, leftovers.status_kib(self.pid, "VmRSS"))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.join()


@pytest.mark.plain
def test_a_gibibyte_costs_no_memory():
    block = "x" * 65535 + "\n"
    code = f"""
import sys
print("the head")
for _ in range(16384):
    sys.stdout.write({block!r})
print("the tail")
"""
    with Watched() as server:
        server.initialize()
        run(server, "print('x' * 3000000)")  # the largest answer there is
        before = leftovers.status_kib(server.process.pid, "VmRSS")
        with PeakMemory(server.process.pid) as watched:
            result = run(server, code, timeout=600)
    assert result["success"], result["error"]
    assert result["stdout_bytes"] == 1024 * MIB + len("the head\nthe tail\n")
    assert result["truncated"]
    assert result["stdout"].startswith("the head\nxxxx")
    assert result["stdout"].endswith("xxxx\nthe tail\n")
    assert len(result["stdout"]) < 1.1 * MIB
    if not leftovers.sanitized():  # its allocator keeps what is freed
        assert watched.peak - before < 8 * 1024


@pytest.mark.parametrize("data, text", [
    (b"caf\xe9 \xff\xfe\n", "caf\ufffd \ufffd\ufffd\n"),
    (b"\xe2\x82", "\ufffd"),
    (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
    ("gr\u00fc\u00df, \u4e16\u754c, \U0001f40d\n".encode(), "gr\u00fc\u00df, \u4e16\u754c, \U0001f40d\n"),
    (b"before\0after\n", "before\0after\n"),
    (b"\x1b[31mred\x1b[0m\r\n", "\x1b[31mred\x1b[0m\r\n"),
    (b"no newline", "no newline"),
    (b"\xef\xbb\xbfmark\n", "\ufeffmark\n"),
], ids=["not UTF-8", "cut short", "surrogate", "UTF-8", "NUL", "ANSI", "no newline", "BOM"])
def test_bytes_of_every_kind_arrive(server, data, text):
    result = run(server, printing(data))
    assert result["stdout"] == text
    assert result["stdout_bytes"] == len(data)
    assert not result["truncated"]


def test_a_long_line_is_kept_at_both_ends(server):
    code = "import sys; sys.stdout.write('<' + 'm' * (10 * 2**20 - 2) + '>')"
    result = run(server, code)
    assert result["stdout_bytes"] == 10 * MIB
    assert result["truncated"]
    assert result["stdout"].startswith("<mmm") and result["stdout"].endswith("mmm>")
    kept = result["stdout"].count("m") + 2
    assert 0.99 * MIB < kept <= MIB + 100


def test_nothing_is_left_out_below_the_limit():
    with Server(config={"limits": {"output": "64KiB"}}) as server:
        server.initialize()
        for size in (65535, 65536):
            result = run(server, f"print('y' * {size - 1})")
            assert (len(result["stdout"]), result["truncated"]) == (size, False)
        result = run(server, "print('y' * 65536)")
        assert result["truncated"] and result["stdout_bytes"] == 65537


def test_characters_are_not_split_where_the_middle_is_left_out():
    with Server(config={"limits": {"output": "64KiB"}}) as server:
        server.initialize()
        for shift in range(4):
            result = run(server, f"print('a' * {shift} + '\U0001f40d' * 100000)")
            assert result["truncated"]
            assert "\ufffd" not in result["stdout"]


def test_the_traceback_survives_a_flood(server):
    result = run(server, "import sys\nsys.stderr.write('w' * 5000000)\nraise KeyError('plum')")
    assert result["stderr"].endswith("KeyError: 'plum'\n")
    assert result["returncode"] == 1


def test_stderr_alone_is_no_failure(server):
    result = server.call_tool("run_python", {"code": "import sys; print('warning', file=sys.stderr)"})
    assert not result.get("isError")
    content = result["structuredContent"]
    assert (content["success"], content["stdout"], content["stderr"]) == (True, "", "warning\n")


def test_output_before_a_timeout_is_kept(server):
    result = run(server, "import time\nprint('so far', flush=True)\ntime.sleep(100)", timeout=10)
    assert result["timed_out"] and result["stdout"] == "so far\n"
