"""Hostile programs against the proxy of a run in a sandbox that reaches the hosts in a list."""

import corpus
import pytest

LEVEL = "sandbox hosts"


@pytest.mark.parametrize("program", corpus.at(LEVEL), ids=repr)
def test_program_is_held(arenas, program):
    arenas.hold(program)
