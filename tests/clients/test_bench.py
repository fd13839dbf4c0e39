"""The benchmark runs, and what it measures is within what is promised."""

import json
import pathlib

import installed


PROMISES = {"own_cost_ms": 10, "ping_ms": 0.2, "idle_mib": 8, "used_mib": 8}


def measure(home):
    bench = pathlib.Path(installed.PYEXECD).parent / "tests" / "bench" / "bench_start"
    done = installed.run(str(bench), installed.PYEXECD, "--json", "--rounds", "60", home=home,
                         PATH="/usr/bin:/bin")
    assert done.returncode == 0, done.stdout
    measured = json.loads(done.stdout)
    return {
        "own_cost_ms": measured["own_cost_ms"],
        "ping_ms": measured["ping_ms"]["p50"],
        "idle_mib": measured["memory_mib"]["idle"],
        "used_mib": measured["memory_mib"]["after_100_calls"],
    }


def test_the_server_costs_little_beside_plain_python(tmp_path):
    """The best of three, because the promise is about the server and not the machine's other work."""
    tries = []
    while len(tries) < 3:
        tries.append(measure(tmp_path))
        if all(tries[-1][name] < limit for name, limit in PROMISES.items()):
            return
    raise AssertionError(tries)
