"""Hostile programs in containers."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hostile"))

import corpus  # noqa: E402
import snapshot  # noqa: E402
from arena import CONFIG, Arena, Arenas  # noqa: E402
from docker_server import DockerServer  # noqa: E402

LEVEL = "docker"


@pytest.fixture(scope="module")
def nothing_left(engine):
    """As for every test, but of all of them together: an arena keeps what it works with."""
    before = snapshot.take(engine)
    yield
    left = snapshot.added(engine, before)
    assert not left, f"left behind: {left}"


@pytest.fixture(scope="module")
def arenas(engine, nothing_left):
    def make():
        return Arena(LEVEL, DockerServer(engine, transport="unix", config=CONFIG))

    arenas = Arenas(make)
    yield arenas
    arenas.close()


@pytest.mark.parametrize("program", corpus.at(LEVEL), ids=repr)
def test_program_is_held(arenas, program):
    arenas.hold(program)
