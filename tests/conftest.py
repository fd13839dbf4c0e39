"""For the tests of every folder: which run (those that --matching names, the long ones with --long),
and that they touch nothing of whoever runs them."""

import collections
import os
import pathlib
import subprocess
import time

import pytest


def pytest_addoption(parser):
    parser.addoption("--matching", metavar="TEXT", default="",
                     help="only tests with TEXT in their file or name, in any case")
    parser.addoption("--long", action="store_true", help="those that are marked long, too")


def pytest_collection_modifyitems(config, items):
    text = config.getoption("matching").lower()
    left_out = [item for item in items if text not in item.nodeid.lower()]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if text in item.nodeid.lower()]
    if not config.getoption("long"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="a long one: ./dev test --long"))
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
        if "PYEXECD" in os.environ:
            ask_python()
        yield


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


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """The result file says why a test did not pass at its first try: that may not go unnoticed."""
    report = (yield).get_result()
    if "first_failure" in vars(item) and report.when == "teardown":
        report.user_properties.append(("again", item.first_failure))
    if report.failed:
        item.first_failure = report.longreprtext
