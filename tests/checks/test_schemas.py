"""Every published schema is a valid JSON Schema 2020-12 that uses only local references."""

import json
import sys

import pytest
import tree

sys.path.insert(0, str(tree.ROOT / "schemas"))
import embed

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas():
    return [path for path in tree.files(".json") if path.parts[0] == "schemas"]


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from references(item)


@pytest.mark.parametrize("path", schemas(), ids=str)
def test_schema_is_valid(path):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(tree.text(path))
    assert schema["$schema"] == DIALECT
    jsonschema.Draft202012Validator.check_schema(schema)


def documents():
    return {path.name: json.loads(tree.text(path)) for path in schemas()}


def samples(schema):
    """Yields each schema within SCHEMA that has examples or a default, with one of those values."""
    if isinstance(schema, dict):
        for value in [*schema.get("examples", []), *([schema["default"]] if "default" in schema else [])]:
            yield schema, value
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from samples(part)


@pytest.mark.parametrize("path", schemas(), ids=str)
def test_examples_and_defaults_fit(path):
    jsonschema = pytest.importorskip("jsonschema")
    whole = embed.bundle(path.name, documents())
    for schema, value in samples(whole):
        jsonschema.Draft202012Validator({**schema, "$defs": whole.get("$defs", {})}).validate(value)


def test_configurations_fit_as_editors_see_them():
    jsonschema = pytest.importorskip("jsonschema")
    yaml = pytest.importorskip("yaml")
    validator = jsonschema.Draft202012Validator(embed.bundle("config.json", documents()))
    examples = [path for path in tree.files(".yaml") if path.parts[0] == "examples"]
    assert len(examples) > 6
    for path in examples:
        validator.validate(yaml.safe_load(tree.text(path)))
    for environment in ({"type": "conda"}, {"type": "system", "image": "x"}, {"image": "x"},
                        {"type": "venv", "python_version": 3.11}, {"type": "docker", "network": "host"}):
        assert not validator.is_valid({"environments": {"a": environment}})


@pytest.mark.parametrize("path", schemas(), ids=str)
def test_schema_needs_no_network(path):
    for reference in references(json.loads(tree.text(path))):
        assert "://" not in reference
