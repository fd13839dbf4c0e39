"""The benchmark of environments runs and measures everything it names; time is only reported,
because it depends on what else the machine does."""

import json
import os
import pathlib
import subprocess

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[1] / "bench" / "environments.py"
OTHERS = {
    "fresh_container": ["docker run --rm --network none", "docker run --rm"],
    "kept_container": ["docker exec", "AG2"],
    "venv": ["python3 -m venv", "virtualenv", "uv venv --seed", "uv venv"],
}


@pytest.mark.serial
@pytest.mark.long
def test_the_benchmark_measures_ours_beside_what_people_use(engine):
    done = subprocess.run(["/usr/bin/python3", BENCH, os.environ["PYEXECD"], "--json", "--rounds",
                           "1"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done
    measured = json.loads(done.stdout)
    print(done.stdout)
    for name, others in OTHERS.items():
        section = measured[name]
        assert section["ms"]["pyexecd"]["p50"] > 0
        for other in others:
            assert section["ratios"].get(other, 0) > 0 or section["left_out"][other]
    for found in measured["again"]["ms"].values():
        assert found["p50"] > 0 and found["first"] > 0
