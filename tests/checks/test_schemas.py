"""Every published schema is a valid JSON Schema 2020-12 that uses only local references."""

import json

import pytest
import tree

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


@pytest.mark.parametrize("path", schemas(), ids=str)
def test_schema_needs_no_network(path):
    for reference in references(json.loads(tree.text(path))):
        assert "://" not in reference
