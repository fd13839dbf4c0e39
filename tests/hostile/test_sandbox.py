"""Hostile programs against runs in a sandbox."""

import corpus
import pytest

LEVEL = "sandbox"


@pytest.mark.parametrize("program", corpus.at(LEVEL), ids=repr)
def test_program_is_held(arenas, program):
    arenas.hold(program)
