"""The skill of the plugin says what the server says to a model."""

import pathlib

import client

SKILL = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "SKILL.md"


def test_it_has_the_words_of_the_server():
    with client.Server() as server:
        when = server.initialize()["instructions"].splitlines()[0]
        (tool,) = server.request("tools/list")["tools"]
    text = SKILL.read_text()
    assert f'description: "{when}"\n' in text
    rules = [line for line in tool["description"].splitlines() if not line.startswith("- Limits:")]
    assert [line for line in rules if line not in text.splitlines()] == []
