"""The usual packages for data work are imported and do a small job under the default limits, however
many CPUs the machine has: their libraries start threads by that number."""

import json
import os
import pathlib
import platform
import subprocess
import sys

import pytest

import client

HERE = pathlib.Path(__file__).parent
PACKAGES = HERE.parents[1] / ".deps" / "data"
WITHOUT_CGROUPS = [sys.executable, str(HERE / "limited.py"), "cgroups", "--", os.environ["PYEXECD"]]
SECONDS = 300  # what threads wait for on a busy machine

# Python itself has to see the CPUs, too.
BEGIN = """
import os, sys
if "LD_PRELOAD" not in os.environ:
    os.environ["LD_PRELOAD"] = os.environ["SHIM"]
    os.execv(sys.executable, [sys.executable, *sys.argv])
"""
WORK = BEGIN + """
import numpy, scipy.linalg, pandas, sklearn.linear_model, sklearn.ensemble
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot
square = numpy.random.default_rng(0).random((80, 80))
product = square @ numpy.linalg.inv(square)
scipy.linalg.svd(square)
pandas.DataFrame(square).describe()
sklearn.linear_model.LinearRegression().fit(square, square[:, 0])
sklearn.ensemble.RandomForestClassifier(4, n_jobs=-1).fit(square, square[:, 0] > 0.5)
matplotlib.pyplot.plot(square[0])
matplotlib.pyplot.savefig("plot.png")
print(len(os.sched_getaffinity(0)), os.environ["OMP_NUM_THREADS"], round(numpy.trace(product)))
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    path = tmp_path_factory.mktemp("shim") / "cpus.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, HERE / "cpus.c", "-ldl"], check=True)
    return str(path)


@pytest.fixture(scope="module")
def packages():
    if not (PACKAGES / "installed").exists():
        pytest.skip("no .deps/data: ./dev deps installs it")
    return {"type": "venv", "venv_path": str(PACKAGES)}


def serve(shim, cpus, environment, command=None, variables=None):
    """A server that sees CPUS. Its scripts see them, too, when they begin with BEGIN."""
    options = f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"
    definition = {**environment, "read": [shim], "environment": {"SHIM": shim, "SEEN_CPUS": str(cpus), **(variables or {})}}
    return client.Server(
        command=command, config={"environments": {"it": definition}, "default_environment": "it"},
        environment={"LD_PRELOAD": shim, "SEEN_CPUS": str(cpus), "ASAN_OPTIONS": options})


def run(server, code, **arguments):
    server.initialize()
    return server.call_tool("run_python", {"code": code, "timeout": SECONDS, **arguments},
                            timeout=SECONDS + 60)["structuredContent"]


def works(shim, cpus, packages, command=None):
    with serve(shim, cpus, packages, command) as server:
        result = run(server, WORK)
    assert result["success"], result["stderr"]
    seen, threads, trace = map(int, result["stdout"].split())
    assert (seen, trace) == (cpus, 80)
    assert threads == min(cpus, 4)
    assert [file["path"] for file in result["files"]] == ["plot.png"]


@pytest.mark.parametrize("cpus", [2, *(pytest.param(cpus, marks=pytest.mark.release) for cpus in (16, 96)), 256])
def test_data_work_goes_on_any_machine(shim, packages, cpus):
    works(shim, cpus, packages)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the system call filter knows x86-64 alone")
@pytest.mark.skipif(subprocess.run(["unshare", "--map-root-user", "true"],
                                   capture_output=True).returncode != 0,
                    reason="no user namespaces for this user")
@pytest.mark.plain
@pytest.mark.parametrize("cpus", [2, 256])
def test_data_work_goes_without_cgroups(shim, packages, cpus):
    works(shim, cpus, packages, WITHOUT_CGROUPS)


SHOW = "import json, os; print(json.dumps({n: v for n, v in os.environ.items() if v.isdigit()}))"


def variables_of(server, **arguments):
    return json.loads(run(server, SHOW, **arguments)["stdout"])


def test_libraries_are_told_how_many_threads_a_run_carries(shim):
    with serve(shim, 96, {"type": "system"}) as server:
        seen = variables_of(server)
    assert {name for name, value in seen.items() if value == "4"} == {
        "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS",
        "LOKY_MAX_CPU_COUNT", "PYTHON_CPU_COUNT"}


def test_larger_limits_carry_more_threads(shim):
    limits = {"limits": {"memory": "16GiB", "processes": 1024}}
    with serve(shim, 96, {"type": "system", **limits}) as server:
        assert variables_of(server)["OMP_NUM_THREADS"] == "96"


def test_what_the_operator_or_the_call_says_wins(shim):
    with serve(shim, 96, {"type": "system"}, variables={"OMP_NUM_THREADS": "7"}) as server:
        seen = variables_of(server)
        assert (seen["OMP_NUM_THREADS"], seen["LOKY_MAX_CPU_COUNT"]) == ("7", "4")
        own = {"type": "system", "environment": {"OMP_NUM_THREADS": "9"}}
        seen = variables_of(server, environment_definition=own)
        assert (seen["OMP_NUM_THREADS"], seen["LOKY_MAX_CPU_COUNT"]) == ("9", "4")
