"""Hostile programs against runs in a PID namespace, which is the default."""

import corpus
import pytest
from arena import Arena, Arenas

LEVEL = "namespace"


@pytest.fixture(scope="module")
def arenas():
    arenas = Arenas(lambda: Arena(LEVEL))
    yield arenas
    arenas.close()


@pytest.mark.parametrize("program", corpus.at(LEVEL), ids=repr)
def test_program_is_held(arenas, program):
    arenas.hold(program)
