"""The tables of docs/protocol.md say what the server does. `support.py SERVER --write` makes them."""

import os

import support


def test_the_document_says_what_is_supported():
    assert support.written() == support.tables(os.environ["CONFORMANCE_SERVER"])
