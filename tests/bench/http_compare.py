"""What a request over HTTP costs beside other servers; `./dev bench http` runs it.

    http_compare.py PROGRAM [--json] [--seconds N]

PROGRAM serves HTTP with its own one tool. The TypeScript SDK's server and FastMCP serve the same
tool, in their fastest form, on the same machine. They take turns, three for each case, so that
whatever else the machine does falls on all alike; of the three the one in the middle counts.
`http_load`, beside PROGRAM's own benchmarks, sends the requests. A factor is our rate divided by that
of the faster of the others, and in brackets the same for a second of processor time: on a busy machine
that is the one to look at. Memory is what is resident after all the requests.
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import ports  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
DEPS = ROOT / ".deps"
START_SECONDS = 30
CONNECTIONS = 1, 32, 256
TURNS = 3
TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
FIRST_ID = 100000000  # http_load counts from it
OURS, *OTHERS = "pyexecd", "TypeScript SDK", "FastMCP"
CLIENT = {"name": "bench", "version": "1"}
P = "io.modelcontextprotocol/"
ENVELOPE = {f"{P}protocolVersion": "2026-07-28", f"{P}clientInfo": CLIENT,
            f"{P}clientCapabilities": {}}
# What is asked: how it is called in the report, the method, and whether it stands alone.
CASES = [("ping", "ping", False), ("tools/list", "tools/list", False),
         ("tools/list, 2026-07-28", "tools/list", True)]


class Server:
    """A server that runs, and the newest session with it, for what needs one."""

    def __init__(self, name, port, command, environment):
        self.name = name
        self.port = port
        self.process = subprocess.Popen(list(map(str, command)), env={**os.environ, **environment},
                                        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        self.wait()

    def wait(self):
        deadline = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} does not listen on port {self.port}")
            time.sleep(0.05)

    def headers(self, method, alone):
        fields = {"Host": f"127.0.0.1:{self.port}", "Content-Type": "application/json",
                  "Accept": "application/json, text/event-stream"}
        if alone:
            return {**fields, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        if method != "initialize":
            fields |= {"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": self.session}
        return fields

    def body(self, method, alone, params=None, **members):
        params = {**(params or {}), **({"_meta": ENVELOPE} if alone else {})}
        return json.dumps({"jsonrpc": "2.0", **members, "method": method, "params": params})

    def post(self, method, **members):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=START_SECONDS)
        connection.request("POST", "/mcp", self.body(method, False, **members),
                           self.headers(method, False))
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 202):
            raise RuntimeError(f"{self.name} answers {method} with {answer.status}: {text!r}")
        return answer.headers, text

    def initialize(self):
        headers, _ = self.post("initialize", id=0, params={
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT})
        self.session = headers["Mcp-Session-Id"]
        self.post("notifications/initialized")

    def request(self, method, alone):
        """The text of a whole request."""
        body = self.body(method, alone, id=FIRST_ID)
        fields = {**self.headers(method, alone), "Content-Length": len(body)}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"POST /mcp HTTP/1.1\r\n{head}\r\n{body}"

    def cpu_seconds(self):
        """What it has used so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK_SECONDS

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def stop(self):
        self.process.terminate()
        self.process.wait(START_SECONDS)


def node():
    """Node itself: what lies in .deps/node/bin starts it as a child, whose memory would not count."""
    found = subprocess.run([DEPS / "node" / "bin" / "node", "-p", "process.execPath"],
                           capture_output=True, text=True, check=True)
    return found.stdout.strip()


def start_servers(program, folder):
    """Ours first: the others serve the tool that it describes."""
    free = [ports.free_port() for _ in range(3)]
    config = folder / "config.yaml"
    config.write_text(json.dumps({"listen": [f"http://127.0.0.1:{free[0]}/mcp"], "auth": "none",
                                  "limits": {"connections_per_client": 256, "connections": 512}}))
    config.chmod(0o600)
    ours = Server(OURS, free[0], [program, "--config", config], {})
    yield ours
    ours.initialize()
    _, text = ours.post("tools/list", id=1)
    tool = folder / "tool.json"
    tool.write_text(json.dumps(json.loads(text)["result"]["tools"][0]))
    yield Server(OTHERS[0], free[1],
                 [node(), HERE / "http_server.mjs", free[1], tool], {"CLIENTS": str(DEPS / "clients")})
    yield Server(OTHERS[1], free[2],
                 [DEPS / "fastmcp" / "bin" / "python", HERE / "http_server.py", free[2], tool], {})


def measure(load, server, method, alone, connections, seconds):
    server.initialize()
    used = server.cpu_seconds()
    done = subprocess.run([load, str(server.port), str(connections), str(seconds)],
                          input=server.request(method, alone), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{server.name}: {done.stderr.strip()}")
    measured = json.loads(done.stdout)
    used = max(server.cpu_seconds() - used, TICK_SECONDS)
    measured["cpu_us"] = round(used / measured["requests"] * 1e6, 1)
    return measured


def median_turn(turns):
    return sorted(turns, key=lambda turn: turn["rate"])[len(turns) // 2]


def run_cases(load, servers, seconds):
    """One line per case and number of connections."""
    for name, method, alone in CASES:
        for connections in CONNECTIONS:
            turns = [[measure(load, server, method, alone, connections, seconds / TURNS)
                      for server in servers] for _ in range(TURNS)]
            measured = {server.name: median_turn([turn[i] for turn in turns])
                        for i, server in enumerate(servers)}
            fastest = max(measured[other]["rate"] for other in OTHERS)
            cheapest = min(measured[other]["cpu_us"] for other in OTHERS)
            yield {"case": name, "connections": connections, "servers": measured,
                   "factor": round(measured[OURS]["rate"] / fastest, 1),
                   "cpu_factor": round(cheapest / measured[OURS]["cpu_us"], 1)}


def run(program, seconds):
    load = pathlib.Path(program).resolve().parent / "tests" / "bench" / "http_load"
    servers = []
    with tempfile.TemporaryDirectory(prefix="pyexecd-bench-") as folder:
        try:
            for server in start_servers(program, pathlib.Path(folder)):
                servers.append(server)
            cases = list(run_cases(load, servers, seconds))
            memory = {server.name: server.resident_kib() for server in servers}
        finally:
            for server in servers:
                server.stop()
    smallest = min(memory[other] for other in OTHERS)
    return {"cases": cases, "memory_kib": memory, "memory_share": round(memory[OURS] / smallest, 3)}


def print_report(report):
    names = [OURS, *OTHERS]
    print("requests per second (p99 in ms)".ljust(34) + "".join(f"{name:>22}" for name in names)
          + f"{'factor':>9}")
    for case in report["cases"]:
        line = f"{case['case']}, {case['connections']} at once".ljust(34)
        for name in names:
            one = case["servers"][name]
            line += f"{one['rate']:,} ({one['p99_us'] / 1000:,.2f})".rjust(22)
        print(f"{line}{case['factor']:>9} ({case['cpu_factor']})")
    print("memory, MiB".ljust(34) + "".join(
        f"{report['memory_kib'][name] / 1024:,.1f}".rjust(22) for name in names)
        + f"{report['memory_share']:>9}")


def main():
    parser = argparse.ArgumentParser(usage="http_compare.py PROGRAM [--json] [--seconds N]")
    parser.add_argument("program")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    report = run(options.program, options.seconds)
    if options.json:
        print(json.dumps(report))
    else:
        print_report(report)


if __name__ == "__main__":
    sys.exit(main())
