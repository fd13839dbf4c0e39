"""How much memory each session and each run takes where many are held at once."""

import json
import subprocess
import time

import load
import measure
import ours
import scripts
import starts

HELD = 64
SESSIONS = {"sessions": {"number": HELD, "number_per_client": HELD}}
CELL = scripts.Script("a cell", "x = 6 * 7\nprint(x)", "42")
PLAIN, SESSION, RUN = "`python3` that sleeps", "a session", "a run that sleeps"
SLEEP = "import os, time\nopen(os.path.join({folder!r}, str(time.monotonic_ns())), 'x').close()\ntime.sleep(600)\n"


def memory_mib(pid):
    """That of the process PID and of all below it, where each shares what it shares."""
    return sum(each["Pss"] for each in [load.memory_kib(pid), *load.memory_of(pid)]) / 1024


def per_one(pid, hold):
    """What one of HELD adds to the memory of PID when HOLD has made them."""
    before = memory_mib(pid)
    hold()
    time.sleep(load.SETTLE_SECONDS)
    return (memory_mib(pid) - before) / HELD


def folder_of(bench, name):
    folder = bench.folder / f"begun-{name}"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def wait_for_all(folder):
    """Each script has made a file in FOLDER."""
    while len(list(folder.iterdir())) < HELD:
        time.sleep(0.05)


def plain(bench):
    folder = folder_of(bench, "plain")
    started = []
    try:
        for _ in range(HELD):
            started.append(subprocess.Popen([scripts.DEBIAN, "-c", SLEEP.format(folder=str(folder))], env=bench.variables))
        wait_for_all(folder)
        return sum(memory_mib(each.pid) for each in started) / HELD
    finally:
        for each in started:
            each.kill()
            each.wait()


def sessions(bench, isolation):
    environment = {"type": "system", "isolation": isolation, "executable": scripts.DEBIAN}
    with ours.server(bench, f"density-{isolation}", {"it": environment}, **SESSIONS) as server:
        begin = ours.tool(server, CELL, session="new")
        return per_one(server.pid, lambda: begin(HELD))


def runs(bench, isolation):
    folder = folder_of(bench, isolation)
    environment = {"type": "system", "isolation": isolation, "executable": scripts.DEBIAN, "write": [str(folder)]}
    if isolation == "none":
        del environment["write"]
    path = ours.configuration(bench, f"density-runs-{isolation}", {"it": environment}, timeout=600,
                              limits={"concurrent_runs": HELD})
    call = {"name": "run_python", "arguments": {"code": SLEEP.format(folder=str(folder))}}
    with subprocess.Popen([bench.program, "--config", path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env=bench.variables) as server:
        def send(method, params, **number):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **number}).encode() + b"\n")
            server.stdin.flush()

        def hold():
            for number in range(HELD):
                send("tools/call", call, id=number + 1)
            wait_for_all(folder)

        send("initialize", ours.HANDSHAKE, id=0)
        send("notifications/initialized", {})
        time.sleep(load.SETTLE_SECONDS)
        return per_one(server.pid, hold)


def run(bench, seconds):
    found = {PLAIN: plain(bench)}
    for isolation in starts.ISOLATIONS:
        found[f"{SESSION}, {isolation}"] = sessions(bench, isolation)
        found[f"{RUN}, {isolation}"] = runs(bench, isolation)
    return {"mib": found}


def lines(report):
    found = report["mib"]
    yield from ["## Density", "",
                f"{HELD} of a kind are held at once. What one of them adds to the memory of the server and of all below it "
                "(PSS of `smaps_rollup`; what the kernel has for them is not in it):", ""]
    rows = [[name, f"{mib:.2f}", measure.number(mib / found[PLAIN])] for name, mib in found.items()]
    yield from measure.table(["", "MiB each", f"of {PLAIN}"], rows)
