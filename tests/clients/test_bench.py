"""The benchmark runs and measures everything it names. Memory is promised; time is only reported,
because it depends on what else the machine does."""

import json
import pathlib

import installed

IDLE_MIB = 8


def test_the_benchmark_measures_ours_beside_plain_python(tmp_path):
    bench = pathlib.Path(installed.PYEXECD).parent / "tests" / "bench" / "bench_start"
    done = installed.run(str(bench), installed.PYEXECD, "--json", "--rounds", "60", home=tmp_path,
                         PATH="/usr/bin:/bin")
    assert done.returncode == 0, done
    measured = json.loads(done.stdout)
    print(done.stdout)
    assert measured["ping_ms"]["p50"] > 0
    assert measured["own_cost_ms"] != 0
    assert 0 < measured["memory_mib"]["idle"] < IDLE_MIB
    assert 0 < measured["memory_mib"]["after_100_calls"] < IDLE_MIB
