"""The corpus itself: each program says what holds it and how it must end, wherever it is run."""

import corpus
import knock_outs
import pytest

pytestmark = pytest.mark.once


@pytest.mark.parametrize("program", corpus.programs(), ids=repr)
def test_outcomes_are_promised_for_every_level_and_user(program):
    assert program.tries
    missing = [(level, who) for level in corpus.LEVELS for who in corpus.USERS
               if program.expected(level, who) is None]
    assert not missing


def test_no_two_programs_are_alike():
    tries = [program.tries for program in corpus.programs()]
    assert len(tries) == len(set(tries))


@pytest.mark.parametrize("program", corpus.programs(), ids=repr)
def test_every_defence_is_one_that_can_be_taken_away(program):
    unknown = [name for name in program.held_by
               if name not in knock_outs.CHANGES and not name.startswith(knock_outs.NO_LINE)]
    assert not unknown


@pytest.mark.parametrize("program", corpus.programs(), ids=repr)
def test_a_defence_is_named_for_every_level_and_user(program):
    unnamed = [(level, who) for level, who in knock_outs.SETTINGS if program.held_by
               and program.is_run(level, who) and not knock_outs.holders(program, level, who)]
    assert not unnamed


@pytest.mark.skipif(not (knock_outs.ROOT / "environments").exists(), reason="the source is not here")
@pytest.mark.parametrize("defence", knock_outs.CHANGES)
def test_what_takes_a_defence_away_is_in_the_source(defence):
    assert not knock_outs.misplaced(defence)


@pytest.mark.parametrize("knock_out", knock_outs.KNOCK_OUTS, ids=lambda one: one.defence)
def test_every_knock_out_is_to_set_a_program_free(knock_out):
    assert any(knock_out.programs_at(level, who) for level, who in knock_outs.SETTINGS)


@pytest.mark.parametrize("defence", knock_outs.CHANGES)
def test_something_shows_each_defence(defence):
    shown = knock_outs.SHOWN.get(defence, [])
    assert shown or any(defence in (one.defence, *one.also) for one in knock_outs.KNOCK_OUTS)
    for path, _, name in (test.partition("::") for test in shown):
        assert f"def {name}(" in (knock_outs.ROOT / "tests" / path).read_text()
