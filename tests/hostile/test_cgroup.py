"""Hostile programs against runs that only a cgroup holds together: there are no user namespaces."""

import corpus
import pytest
from arena import Arena, Arenas

if corpus.user() != "root":
    pytest.skip("no writable cgroup", allow_module_level=True)

LEVEL = "cgroup"


@pytest.fixture(scope="module")
def arenas():
    arenas = Arenas(lambda: Arena(LEVEL))
    yield arenas
    arenas.close()


@pytest.mark.parametrize("program", corpus.at(LEVEL), ids=repr)
def test_program_is_held(arenas, program):
    arenas.hold(program)
