"""Hostile programs against runs in a PID namespace."""

import corpus
import pytest

LEVEL = "namespace"


@pytest.mark.parametrize("program", corpus.at(LEVEL), ids=repr)
def test_program_is_held(arenas, program):
    arenas.hold(program)
