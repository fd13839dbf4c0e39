"""docs/configuration.md has every key of the configuration's schema, described as it is there."""

import os
import pathlib
import re
import subprocess
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


@pytest.fixture
def program():
    path = pathlib.Path(os.environ.get("BUILD_ROOT", "")) / "pyexecd"
    if not path.exists():
        pytest.skip("the program is not built")
    return path


def check(program, path):
    return subprocess.run([program, "--config", path.name, "--check-config"], cwd=path.parent,
                          capture_output=True, text=True, timeout=60)


def test_program_finds_nothing_wrong_with_the_sample(program, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(tree.text("examples/config.yaml"))
    path.chmod(0o600)
    checked = check(program, path)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout == "config.yaml: ok\n"


def test_program_finds_the_errors_that_the_document_shows(program, tmp_path):
    shown = re.search(r"\$ cat config.yaml\n(.*?)\$ pyexecd --config config.yaml --check-config\n(.*?)```",
                      tree.text("docs/configuration.md"), re.DOTALL)
    path = tmp_path / "config.yaml"
    path.write_text(shown.group(1))
    path.chmod(0o600)
    checked = check(program, path)
    assert (checked.returncode, checked.stderr) == (78, shown.group(2))
