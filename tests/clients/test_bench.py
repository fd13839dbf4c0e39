"""The benchmark runs, and what it measures is within what is promised."""

import json
import pathlib

import installed


def test_the_server_costs_little_beside_plain_python(tmp_path):
    bench = pathlib.Path(installed.PYEXECD).parent / "tests" / "bench" / "bench_start"
    done = installed.run(str(bench), installed.PYEXECD, "--json", "--rounds", "60", home=tmp_path,
                         PATH="/usr/bin:/bin")
    assert done.returncode == 0, done.stdout
    measured = json.loads(done.stdout)
    assert measured["own_cost_ms"] < 10, done.stdout
    assert measured["ping_ms"]["p50"] < 0.2, done.stdout
    assert measured["memory_mib"]["idle"] < 8, done.stdout
    assert measured["memory_mib"]["after_100_calls"] < 8, done.stdout
