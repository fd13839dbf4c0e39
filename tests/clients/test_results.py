"""tests/results.md is what models read now, and each text has in it what a model can go on from."""

import model_scripts
import pytest
import results

SCRIPTS = model_scripts.every()


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    return results.texts_of(SCRIPTS, tmp_path_factory.mktemp("results"))


@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_a_model_can_go_on(script, texts):
    assert script.missing(texts[script.name]) == [], texts[script.name]


def test_there_are_sixty_scripts():
    assert len(SCRIPTS) >= 60


def test_the_document_is_up_to_date(texts):
    """Tracebacks differ between versions of Python: with another one, its scripts are compared."""
    written, made = results.DOCUMENT.read_text(), results.document(SCRIPTS, texts)
    assert results.headings(written) == results.headings(made)
    if f"{results.PYTHON} (`system`)" in written:
        assert results.constant(written, SCRIPTS) == results.constant(made, SCRIPTS), (
            "tests/clients/results.py PROGRAM --write makes it anew")
