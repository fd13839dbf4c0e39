"""The corpus itself: each program says what holds it and how it must end, wherever it is run."""

import corpus
import pytest

pytestmark = pytest.mark.once


@pytest.mark.parametrize("program", corpus.programs(), ids=repr)
def test_outcomes_are_promised_for_every_level_and_user(program):
    assert program.tries and program.held_by
    missing = [(level, who) for level in corpus.LEVELS for who in corpus.USERS
               if program.expected(level, who) is None]
    assert not missing


def test_no_two_programs_are_alike():
    tries = [program.tries for program in corpus.programs()]
    assert len(tries) == len(set(tries))
