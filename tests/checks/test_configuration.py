"""docs/configuration.md is what its generator makes of the schemas;
docs/environments.md has those of environments, type by type."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import tree

sys.path.insert(0, str(tree.ROOT / "docs"))
import configuration_keys

KEYS = dict(configuration_keys.keys())


def test_document_is_made_of_the_schemas():
    source = "docs/configuration.md.in"
    made = configuration_keys.filled(tree.ROOT / source)
    assert made == tree.text("docs/configuration.md"), \
        f"run: docs/configuration_keys.py {source} docs/configuration.md"


@pytest.mark.parametrize("path", [path for path, schema in KEYS.items() if "examples" in schema], ids=str)
def test_an_example_is_yaml_as_it_is_shown(path):
    yaml = pytest.importorskip("yaml")
    for value in KEYS[path]["examples"]:
        assert yaml.safe_load(configuration_keys.flow(value)) == value


@pytest.mark.parametrize("path", [path for path in KEYS if "." not in path], ids=str)
def test_sample_shows(path):
    shown = re.search(rf"^(# )?{path}: *(.*)$", tree.text("examples/config.yaml"), re.MULTILINE)
    assert shown
    if shown.group(1) and "default" in KEYS[path]:
        default = KEYS[path]["default"]
        assert shown.group(2) == (f"[{', '.join(default)}]" if isinstance(default, list) else
                                  str(default).lower() if isinstance(default, bool) else str(default))


TABLE_ROW = re.compile(r"^\| `([a-zA-Z_.]+)` \| (?:`([^`]*)` )?\| ", re.MULTILINE)
EVERY_TYPE = "Every type"


def environment_keys():
    """The heading in docs/environments.md and the key of each row that it should have."""
    for path, schema in KEYS.items():
        if not path.startswith("environments.NAME."):
            continue
        key = path.removeprefix("environments.NAME.").partition(" ")[0]
        default = configuration_keys.default(schema) if "default" in schema else None
        for heading in schema.get("types", [EVERY_TYPE]):
            yield heading, key, default


def documented_keys():
    for section in re.split(r"^## ", tree.text("docs/environments.md"), flags=re.MULTILINE)[1:]:
        heading = section.partition("\n")[0].strip("`")
        if heading in (EVERY_TYPE, *KEYS["environments.NAME.type"]["enum"]):
            for key, default in TABLE_ROW.findall(section):
                yield heading, key, default or None


def test_document_of_environments_has_every_key_with_its_default():
    documented = list(documented_keys())
    assert sorted(documented, key=str) == sorted(set(environment_keys()), key=str)


@pytest.fixture
def program():
    path = pathlib.Path(os.environ.get("BUILD_ROOT", "")) / "pyexecd"
    if not path.exists():
        pytest.skip("the program is not built")
    return path


def check(program, path):
    return subprocess.run([program, "--config", path.name, "--check-config"], cwd=path.parent,
                          capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", [path.name for path in sorted((tree.ROOT / "examples").glob("*.yaml"))])
def test_program_finds_nothing_wrong_with_an_example(program, tmp_path, name):
    """Where what it names is there: the files beside it, and the operator's in /srv."""
    shutil.copytree(tree.ROOT / "examples" / "lab", tmp_path / "lab")
    for folder in ("data", "results"):
        (tmp_path / folder).mkdir()
    path = tmp_path / "config.yaml"
    path.write_text(tree.text(f"examples/{name}").replace("/srv/", f"{tmp_path}/"))
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
