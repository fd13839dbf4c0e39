"""For the tests of every folder: which run (those that --matching names, those before a release with --release),
and that they touch nothing of whoever runs them."""

import collections
import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest

if "TEST_BYTECODE" in os.environ:  # what pytest makes of the tests, for the next worker; no script's Python writes there
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.environ["TEST_BYTECODE"]

LISTS = {mark: pathlib.Path(__file__).with_name(f"{mark}.txt") for mark in ("plain", "long", "first", "nodes")}  # marks of whole files


def pytest_addoption(parser):
    parser.addoption("--matching", metavar="TEXT", default="",
                     help="only tests with TEXT in their file or name, in any case")
    parser.addoption("--release", action="store_true", help="those that are marked release, too")


def files_of(mark):
    return {line.split()[0] for line in LISTS[mark].read_text().splitlines() if line and not line.startswith("#")}


@pytest.hookimpl(tryfirst=True)  # before pytest looks at marks
def pytest_collection_modifyitems(config, items):
    for mark in LISTS:
        listed = files_of(mark)
        for item in items:
            if f"{item.path.parent.name}/{item.path.name}" in listed:
                item.add_marker(mark)
    text = config.getoption("matching").lower()

    def is_wanted(item):
        return text in item.nodeid.lower() and (
            config.getoption("release") or not item.get_closest_marker("release"))

    if left_out := [item for item in items if not is_wanted(item)]:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if is_wanted(item)]
    largest_file_first(items)


def largest_file_first(items):
    """Where files are dealt out to several workers, none gets a large one when the others are done."""
    sizes = collections.Counter(item.path for item in items)
    items.sort(key=lambda item: (not item.get_closest_marker("first"), -sizes[item.path]))


@pytest.fixture(scope="session", autouse=True)
def own_places(tmp_path_factory):
    """No test reads the configuration or the engine, or fills the state, of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "DOCKER_CONFIG"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name)))
        for name in ("PYEXECD_CONFIG", "STATE_DIRECTORY", "DOCKER_HOST", "DOCKER_CONTEXT",
                     "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"):
            patch.delenv(name, raising=False)
        if os.path.exists("/var/run/docker.sock"):  # else models are told of containers on some machines only
            patch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
        if "PYEXECD" in os.environ:
            ask_python()
        yield


@pytest.fixture(scope="module", autouse=True)
def nothing_learnt(own_places):
    """No file's servers import ahead what the scripts of another file have imported."""
    shutil.rmtree(pathlib.Path(os.environ["XDG_STATE_HOME"], "pyexecd/imports"), ignore_errors=True)


def ask_python():
    """Lets a server ask the usual Python for its packages. The answer is kept for the servers of the
    tests, whose clients are then not told in between that the tools have changed."""
    answers = pathlib.Path(os.environ["XDG_STATE_HOME"]) / "pyexecd/answers"
    with subprocess.Popen([os.environ["PYEXECD"]], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as server:
        end = time.monotonic() + 60
        while not list(answers.glob("*.json")) and time.monotonic() < end:
            time.sleep(0.05)
        server.stdin.close()


def processor_seconds():
    """Of this process and of all children that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    item.processor_seconds = processor_seconds()
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """The result file has the processor time of each test, for times.py."""
    report = (yield).get_result()
    if report.when == "teardown":
        report.user_properties.append(("cpu", f"{processor_seconds() - item.processor_seconds:.2f}"))
