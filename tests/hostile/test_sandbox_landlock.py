"""Hostile programs against runs in a sandbox without namespaces, which file rules and filters hold alone."""

import corpus
import pytest

LEVEL = "sandbox landlock"


@pytest.mark.parametrize("program", corpus.at(LEVEL), ids=repr)
def test_program_is_held(arenas, program):
    arenas.hold(program)
