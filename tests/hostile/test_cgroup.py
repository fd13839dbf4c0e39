"""Hostile programs against runs that only a cgroup holds together: there are no user namespaces."""

import corpus
import pytest

LEVEL = "cgroup"
PROGRAMS = corpus.at(LEVEL)
if corpus.user() != "root":
    PROGRAMS = [pytest.param(None, marks=pytest.mark.skip(reason="no writable cgroup"))]


@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_program_is_held(arenas, program):
    arenas.hold(program)
