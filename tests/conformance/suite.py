#!/usr/bin/env python3
"""The official conformance suite, run against a server and against a client; `./dev conformance` does.

    suite.py SERVER PYEXECD [REVISION]

SERVER is a command that takes an address to listen on. PYEXECD is the client: suite_client.py has it call
tools. Without REVISION, every one that the suite knows is tried. What is printed are the suite's own
summaries, and which scenarios for clients are left out; its exit code is passed on.
"""

import contextlib
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
NODE = ROOT / ".deps" / "node" / "bin" / "node"
INSTALLED = ROOT / ".deps" / "clients" / "installed"
SUITE = INSTALLED.parent / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
CLIENT = pathlib.Path(__file__).resolve().with_name("suite_client.py")

# The suite has frozen requirements for some revisions, scenarios for all that speak HTTP like this.
REQUIRED = ("2025-11-25", "2026-07-28")
REVISIONS = ("2025-03-26", "2025-06-18", *REQUIRED)
START_SECONDS = 60
LIMIT_SECONDS = 600

# Scenarios for clients that want what ours does not have, by how their names begin.
LEFT_OUT = {
    "auth/": "an operator gives a token in `headers`; there is no OAuth",
    "elicitation-": "no question of a server is answered, as nobody is there whom it was meant for",
    "sep-2322-client-request-state": "no question of a server is answered, as nobody is there whom it was meant for",
}


def requirements(revision):
    return ["--requirements", revision]


def everything(revision):
    return ["--suite", "all", "--spec-version", revision]


def command(*arguments):
    return [str(NODE), str(SUITE), *arguments]


def scenarios(selection):
    """The names of the server scenarios of SELECTION; those that are not scored come last."""
    asked = [word for word in selection if word not in ("--suite", "all")]
    listed = subprocess.run(command("list", *asked), capture_output=True, text=True, check=True)
    servers, _, rest = listed.stdout.partition("\nClient scenarios")
    return (re.findall(r"^  - (\S+)", servers, re.M)
            + re.findall(r"^    - (\S+) \[server\]$", rest, re.M))


def client_scenarios(revision):
    """The names of the suite's scenarios for clients of REVISION."""
    listed = subprocess.run(command("list", "--client", "--spec-version", revision), capture_output=True, text=True,
                            check=True)
    return re.findall(r"^  - (\S+)", listed.stdout, re.M)


def why_left_out(scenario):
    """None: it is not."""
    return next((reason for name, reason in LEFT_OUT.items() if scenario.startswith(name)), None)


@contextlib.contextmanager
def served(*server):
    """Starts SERVER on a port of its own; the URL that it answers at."""
    port = ports.free_port()
    # The suite wants to be told of localhost: it tries other hosts itself.
    url = f"http://localhost:{port}/mcp"
    process = subprocess.Popen([*map(str, server), url], stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("localhost", port), 1).close()
                break
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{server[0]} does not listen at {url}")
            time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(START_SECONDS)
    if process.returncode != 0:
        raise RuntimeError(f"{server[0]} has ended with {process.returncode}")


class Outcome:
    """What the suite said of one selection."""

    def __init__(self, done, folder):
        self.code = done.returncode
        self.summary = done.stdout.partition("=== SUMMARY ===")[2].strip() or done.stdout + done.stderr
        self.checks = {}
        for file in pathlib.Path(folder).glob("server-*/checks.json"):
            name = re.fullmatch(r"server-(.*)-\d{4}-\d\d-\d\dT\S+", file.parent.name)[1]
            self.checks.setdefault(name, []).extend(json.loads(file.read_text()))

    def of(self, scenario, status):
        """The checks of SCENARIO that ended with STATUS, one line each."""
        return [f"{check['id']}: {check.get('errorMessage', check['description'])}"
                for check in self.checks.get(scenario, []) if check["status"] == status]


def run_suite(*words):
    # Its proxy settings would be used for localhost, too.
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return subprocess.run(command(*words), capture_output=True, text=True, timeout=LIMIT_SECONDS, env=environment)


def run(url, *selection):
    """Runs what SELECTION says against the server at URL."""
    with tempfile.TemporaryDirectory(prefix="pyexecd-conformance-") as folder:
        return Outcome(run_suite("server", "--url", url, *selection, "-o", folder), folder)


def run_client(program, scenario, revision):
    """Runs SCENARIO with PROGRAM as the client: the suite's exit code, and what it has said."""
    with tempfile.TemporaryDirectory(prefix="pyexecd-conformance-") as folder:
        done = run_suite("client", "--scenario", scenario, "--spec-version", revision, "-o", folder,
                         "--command", f"{sys.executable} {CLIENT} {program}")
        return done.returncode, done.stdout + done.stderr


def try_client(program, revision):
    """Prints what the suite counts of each scenario for clients; the worst exit code."""
    worst = 0
    for scenario in client_scenarios(revision):
        if reason := why_left_out(scenario):
            print(f"client {scenario}: left out: {reason}")
            continue
        code, said = run_client(program, scenario, revision)
        counted = re.search(r"^Passed: .*", said, re.M)
        print(f"client {scenario}: {counted[0] if counted else said}")
        worst = max(worst, code)
    return worst


def main():
    server, program, *chosen = sys.argv[1:]
    worst = 0
    for revision in chosen or REVISIONS:
        if revision not in REVISIONS:
            sys.exit(f"suite.py: there is {', '.join(REVISIONS)}, no {revision}")
        with served(server) as url:
            outcome = run(url, *(requirements if revision in REQUIRED else everything)(revision))
        print(f"{revision}\n\n{outcome.summary}\n")
        worst = max(worst, outcome.code, try_client(os.path.abspath(program), revision))
        print()
    return worst


if __name__ == "__main__":
    sys.exit(main())
