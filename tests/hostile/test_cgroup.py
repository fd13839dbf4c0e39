"""Hostile programs against runs that only a cgroup holds together: there are no user namespaces."""

import corpus
import pytest
from arena import Arena, Arenas

LEVEL = "cgroup"
PROGRAMS = corpus.at(LEVEL)
if corpus.user() != "root":
    PROGRAMS = [pytest.param(None, marks=pytest.mark.skip(reason="no writable cgroup"))]


@pytest.fixture(scope="module")
def arenas():
    arenas = Arenas(lambda: Arena(LEVEL))
    yield arenas
    arenas.close()


@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_program_is_held(arenas, program):
    arenas.hold(program)
