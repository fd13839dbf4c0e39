"""docs/configuration.md has every key of the configuration's schema, described as it is there."""

import re
import sys

import pytest
import tree

sys.path.insert(0, str(tree.ROOT / "docs"))
import configuration_keys

KEYS = dict(configuration_keys.keys())


def entry(path):
    """What the document says of a key, from its heading to the end of its description."""
    schema = KEYS[path]
    return f"### `{path}`\n\n{configuration_keys.summary(schema)}\n\n{schema['description']}\n"


@pytest.mark.parametrize("path", KEYS, ids=str)
def test_document_describes(path):
    assert entry(path) in tree.text("docs/configuration.md"), f"it lacks:\n{entry(path)}"


def test_document_describes_nothing_else():
    headings = re.findall(r"^### `(.*)`$", tree.text("docs/configuration.md"), re.MULTILINE)
    assert headings == list(KEYS)


@pytest.mark.parametrize("path", [path for path in KEYS if "." not in path], ids=str)
def test_sample_shows(path):
    shown = re.search(rf"^(# )?{path}: *(.*)$", tree.text("examples/config.yaml"), re.MULTILINE)
    assert shown
    if shown.group(1) and "default" in KEYS[path]:
        default = KEYS[path]["default"]
        assert shown.group(2) == (f"[{', '.join(default)}]" if isinstance(default, list) else str(default))
