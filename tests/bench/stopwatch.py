"""The client that times, stopwatch.c, from Python: commands, and servers that speak JSON-RPC over stdio."""

import json
import os
import pathlib
import subprocess

from measure import GAP_MS

TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
CALLS_AT_ONCE = 4


def processor_ms(pid):
    """What the process PID and those that it has waited for have taken of the processors so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) * TICK_MS


class Stopwatch:
    """One stopwatch of BENCH. What it starts has only the variables of the bench and VARIABLES, and runs in its folder."""

    def __init__(self, bench, variables):
        self.variables = {**bench.variables, **variables}
        self.process = subprocess.Popen([bench.stopwatch], cwd=bench.folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def do(self, what, **order):
        self.process.stdin.write(json.dumps({"do": what, **order}).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "the stopwatch ended"}')
        if "error" in answer:
            self.end()
            raise RuntimeError(answer["error"].strip())
        return answer


class Command:
    """A command that is run to its end, and has EXPECT in its output."""

    def __init__(self, bench, command, expect, **variables):
        self.stopwatch = Stopwatch(bench, variables)
        self.order = {"command": list(map(str, command)), "environment": self.stopwatch.variables, "expect": expect}
        self.used_ms = 0
        self.calls = 0

    def __call__(self, calls):
        """The milliseconds of each of CALLS."""
        done = self.stopwatch.do("run", count=calls, gap_us=GAP_MS * 1000, **self.order)
        self.used_ms += done["processor_us"] / 1000
        self.calls += calls
        return [taken / 1000 for taken in done["us"]]

    def many(self, seconds, at_once):
        """How often it ends in SECONDS, or a little more, with AT_ONCE at a time."""
        return self.stopwatch.do("run", seconds=seconds, at_once=at_once, **self.order)

    def rate(self, seconds):
        """How many end per second, with CALLS_AT_ONCE at a time."""
        done = self.many(seconds, CALLS_AT_ONCE)
        return done["count"] / done["seconds"]

    def processor(self):
        """The milliseconds of the processors for each call so far."""
        return self.used_ms / self.calls


class Server:
    """A server over stdio; what it says on stderr is in NAME.log."""

    def __init__(self, bench, name, command, **variables):
        self.stopwatch = Stopwatch(bench, variables)
        self.pid = self.stopwatch.do("start", command=list(map(str, command)), log=f"{name}.log",
                                     environment=self.stopwatch.variables)["pid"]
        self.answer_of("initialize", HANDSHAKE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stopwatch.end()

    def order(self, method, params, **more):
        return self.stopwatch.do("call", request={"jsonrpc": "2.0", "method": method, "params": params}, **more)

    def answer_of(self, method, params):
        """The result of one request."""
        return json.loads(self.order(method, params)["answer"])["result"]

    def pings(self, count):
        return [taken / 1000 for taken in self.order("ping", {}, count=count)["us"]]


class Connection(Server):
    """A further client of the server of BENCH that listens at the socket PATH."""

    def __init__(self, bench, path):
        self.stopwatch = Stopwatch(bench, {})
        self.stopwatch.do("connect", path=str(path))
        self.answer_of("initialize", HANDSHAKE)


class Tool:
    """A tool of SERVER, called with ARGUMENTS; its answers have EXPECT in them."""

    def __init__(self, server, name, arguments, expect):
        self.server = server
        self.params = {"name": name, "arguments": arguments}
        self.expect = expect
        self.used_ms = 0
        self.calls = 0

    def __call__(self, calls):
        """The milliseconds of each of CALLS."""
        before = processor_ms(self.server.pid)
        done = self.server.order("tools/call", self.params, expect=self.expect, count=calls, gap_us=GAP_MS * 1000)
        self.used_ms += processor_ms(self.server.pid) - before
        self.calls += calls
        return [taken / 1000 for taken in done["us"]]

    def many(self, seconds, at_once):
        """How many are answered in SECONDS, or a little more, with AT_ONCE at a time."""
        return self.server.order("tools/call", self.params, expect=self.expect, seconds=seconds, at_once=at_once)

    def rate(self, seconds):
        """How many are answered per second, with CALLS_AT_ONCE at a time."""
        done = self.many(seconds, CALLS_AT_ONCE)
        return done["count"] / done["seconds"]

    def processor(self):
        """The milliseconds of the processors for each call so far."""
        return self.used_ms / self.calls

    def result(self):
        """The result of one call."""
        return self.server.answer_of("tools/call", self.params)
