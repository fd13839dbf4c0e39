"""The benchmark of environments runs and measures everything it names; time is only reported,
because it depends on what else the machine does."""

import json
import os
import pathlib
import subprocess

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[1] / "bench" / "page.py"
OTHERS = {
    "containers": ["docker run --rm --network none", "docker run --rm", "docker exec"],
    "venv": ["python3 -m venv", "virtualenv", "uv venv --seed", "uv venv"],
}


@pytest.mark.heavy
@pytest.mark.release
def test_the_benchmark_measures_ours_beside_what_people_use(engine):
    done = subprocess.run(["/usr/bin/python3", PAGE, os.environ["PYEXECD"], "environments", "--json",
                           "--seconds", "2", "--without-peers"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done
    measured = json.loads(done.stdout)["parts"]["environments"]
    print(done.stdout)
    for name, others in OTHERS.items():
        section = measured[name]
        assert [way for way in section["ms"] if way.startswith("pyexecd")]
        for other in others:
            assert other in section["left_out"] or section["ms"][other]["p50"] > 0
    for found in measured["again"]["ms"].values():
        assert found["p50"] > 0 and found["first"] > 0
