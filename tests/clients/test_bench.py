"""The benchmark runs and measures everything it names. Memory is promised; time is only reported,
because it depends on what else the machine does."""

import json
import pathlib

import installed
import pytest

IDLE_MIB = 10  # 7 with the libraries of Debian 12, 9 with those of Debian 13
SHARE_OF_MEMORY = 0.1


@pytest.mark.serial
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


@pytest.mark.serial
@pytest.mark.long
def test_the_http_benchmark_measures_ours_beside_the_sdks(tmp_path):
    installed.python("fastmcp")
    installed.node_program("node-which")
    bench = installed.ROOT / "tests" / "bench" / "http_compare.py"
    done = installed.run("/usr/bin/python3", str(bench), installed.PYEXECD, "--json", "--seconds",
                         "0.6", home=tmp_path, timeout=180)
    assert done.returncode == 0, done
    print(done.stdout)
    measured = json.loads(done.stdout)
    assert len(measured["cases"]) == 9
    assert all(one["answers"] > 0 for case in measured["cases"] for one in case["servers"].values())
    assert measured["memory_share"] < SHARE_OF_MEMORY
