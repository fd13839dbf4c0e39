"""Hostile programs against runs that Landlock holds: no user namespaces, no cgroups."""

import corpus
import pytest
from arena import Arena, Arenas

LEVEL = "landlock"


@pytest.fixture(scope="module")
def arenas():
    arenas = Arenas(lambda: Arena(LEVEL))
    yield arenas
    arenas.close()


@pytest.mark.parametrize("program", corpus.at(LEVEL), ids=repr)
def test_program_is_held(arenas, program):
    arenas.hold(program)
