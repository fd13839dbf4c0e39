"""Sessions in Jupyter kernels, in containers: with the packages of .deps/jupyter, which a volume brings."""

import pathlib

import pytest

import leftovers
import sessions
from sessions import Session, given_in

PLACE = "/opt/jupyter"
START = 180  # seconds that a container and a kernel may take on a busy machine


@pytest.fixture(scope="module")
def packages():
    folder = pathlib.Path(sessions.venv("jupyter")["venv_path"]).resolve()
    if not (folder / "lib" / "python3.11").exists():
        pytest.skip(".deps/jupyter is not for Python 3.11, which the image has")
    return folder


@pytest.fixture
def server(docker_server, packages):
    definition = {"kernel": "python3", "volumes": {str(packages): {"path": PLACE, "mode": "ro"}},
                  "environment": {"PYTHONPATH": f"{PLACE}/lib/python3.11/site-packages",
                                  "JUPYTER_PATH": f"{PLACE}/share/jupyter"}}
    with docker_server(definition, config={"sessions": {}}) as server:
        server.initialize()
        server.prepare()
        yield server


@pytest.fixture
def session(server):
    return Session(server, "x = 5", timeout=START)


def test_state_values_errors_and_pictures(session):
    assert session.result["success"] and session.result["stderr"] == "", session.result
    assert session.result["isolation"] == "docker"
    assert session.shown("print('printed')\nx + 1") == "printed\n6"
    assert not session.run("x / 0")["success"]
    assert "ZeroDivisionError" in session.text
    session.run("from IPython.display import SVG\nSVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')")
    assert session.files() == ["display-1.svg"]
    assert session.shown("open('/proc/net/dev').read().count(':')") == "1"


def test_an_interrupt_leaves_the_state(server):
    session = given_in(lambda: Session(server, "x = 5", timeout=START), "import time; time.sleep(600)", timeout=3)
    assert session.shown("x", timeout=60) == "5"


def test_code_that_ignores_the_interrupt_is_killed(session, engine):
    result = session.run("import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(600)",
                         timeout=3)
    assert result["timed_out"] and not result["session"]["alive"]
    assert session.is_gone()
    assert leftovers.until(lambda: engine.api.get("/containers/json", all=1) == [])


def test_one_hundred_megabytes(session):
    result = session.run("print('x' * 100_000_000)", timeout=START)
    assert result["success"] and result["stdout_bytes"] == 100_000_001, result["stderr"]
    assert session.shown("x") == "5"


@pytest.mark.parametrize("process", ["getpid", "getppid"])
def test_a_kernel_or_relay_that_is_killed_takes_its_container_along(session, engine, process):
    session.run(f"import os; os.kill(os.{process}(), 9)")
    assert "its variables are gone" in session.text
    assert session.is_gone()
    assert leftovers.until(lambda: engine.api.get("/containers/json", all=1) == [])


def test_an_image_without_the_kernel_says_so(docker_server, packages):
    with docker_server({"kernel": "none-such"}, config={"sessions": {}}) as server:
        server.initialize()
        server.prepare()
        session = Session(server, "1", timeout=START)
        assert 'no Jupyter kernel "none-such"' in session.text and "there is none" in session.text
