"""Comments name what they are about; english.py says which do not."""

import english
import names
import pytest

HEADLESS_MOST = 0.01  # of all sentences


def test_few_sentences_are_headless():
    counted = [sum(column) for column in zip(*english.counted(names.sources()).values())]
    assert counted[1] / counted[0] <= HEADLESS_MOST


@pytest.mark.parametrize("sentence, expected", [
    ("One that belongs to nobody yet is dropped.", True),
    ("What has to wait for its zygote stays.", True),
    ("A look ends with what was found.", True),
    ("A forecast that is in no list is dropped.", False),
    ("The answer says what the Python is.", False),
])
def test_a_headless_sentence_leaves_its_noun_out(sentence, expected):
    assert english.is_headless(sentence) == expected


def test_sentences_have_their_lines():
    text = "int x; /* The first. */\n\n/* The second\n * goes on. The third:\n *\n *     x = y\n */\n"
    assert list(english.sentences(text)) == [(1, "The first."), (3, "The second goes on."), (4, "The third:")]
