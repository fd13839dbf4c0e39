"""Hostile programs against runs that Landlock holds: no user namespaces, no cgroups."""

import corpus
import pytest

LEVEL = "landlock"


@pytest.mark.parametrize("program", corpus.at(LEVEL), ids=repr)
def test_program_is_held(arenas, program):
    arenas.hold(program)
