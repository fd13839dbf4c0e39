"""`pyexecd schema`: each form keeps to what its provider takes, and means the same."""

import json
import os
import pathlib
import re
import subprocess

import pytest

import client

jsonschema = pytest.importorskip("jsonschema")

PROVIDERS = ["mcp", "openai", "openai-responses", "anthropic", "gemini"]
CODE = {"code": "print(1)"}
TAKE_OBJECTS = ["mcp", "gemini"]
OPTIONAL = ["environment", "timeout", "files", "working_directory"]
SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "schemas" / "config.json"
KINDS = json.loads(SCHEMA.read_text("utf-8"))["$defs"]["environment"]["properties"]["type"]["enum"]


@pytest.fixture(autouse=True)
def engine(tmp_path, monkeypatch):
    """Models are told of containers only where there may be an engine: here something that looks like its socket."""
    (tmp_path / "docker.sock").write_text("")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")


def documents(text):
    """The JSON documents in TEXT, one after the other."""
    decoder = json.JSONDecoder()
    text = text.lstrip()
    while text:
        document, end = decoder.raw_decode(text)
        yield document
        text = text[end:].lstrip()


def declarations(provider, config=None, tmp_path=None):
    """What is printed for PROVIDER: one declaration for each tool."""
    arguments = [os.environ["PYEXECD"], "schema", "--for", provider]
    if config is not None:
        path = tmp_path / "config.yaml"
        path.write_text(json.dumps(config))
        path.chmod(0o600)
        arguments += ["--config", str(path)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    return list(documents(done.stdout))


def function_in(provider, tool):
    """(name, description, schema of the arguments) wherever PROVIDER has them."""
    if provider == "mcp":
        return tool["name"], tool["description"], tool["inputSchema"]
    if provider == "openai":
        tool = tool["function"]
    if provider == "gemini":
        (tool,) = tool["functionDeclarations"]
        return tool["name"], tool["description"], tool["parametersJsonSchema"]
    return tool["name"], tool["description"], tool.get("parameters") or tool["input_schema"]


def declaration(provider, *configured):
    """That of `run_python`."""
    (found,) = [tool for tool in declarations(provider, *configured)
                if function_in(provider, tool)[0] == "run_python"]
    return found


def function_of(provider, *configured):
    return function_in(provider, declaration(provider, *configured))


def nodes(schema):
    """SCHEMA and every schema in it."""
    yield schema
    for child in schema.get("properties", {}).values():
        yield from nodes(child)
    if "items" in schema:
        yield from nodes(schema["items"])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_names_and_descriptions_are_within_every_limit(provider):
    for tool in declarations(provider):
        name, description, _ = function_in(provider, tool)
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name)
        assert 100 < len(description) <= 1024


@pytest.mark.parametrize("provider", PROVIDERS)
def test_schemas_are_flat_objects_in_the_common_subset(provider):
    _, _, schema = function_of(provider)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    forbidden = {"$ref", "$defs", "anyOf", "oneOf", "allOf", "not", "if", "const",
                 "patternProperties", "prefixItems", "uniqueItems", "dependentRequired",
                 "dependentSchemas", "default"}
    for node in nodes(schema):
        assert not forbidden & set(node)
    for name, node in schema["properties"].items():
        assert node["description"], name
        assert "properties" not in node or name == "environment_definition", "flat"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_definitions_of_environments_are_where_objects_are_taken(provider):
    _, _, schema = function_of(provider)
    node = schema["properties"].get("environment_definition")
    assert (node is not None) == (provider in TAKE_OBJECTS)
    if node:
        assert node["properties"]["type"]["enum"] == KINDS
        assert len(json.dumps(node)) < 4000, "models read it in every conversation"


@pytest.mark.parametrize("listen, written, offered", [
    (["stdio"], None, True),
    (["stdio"], False, False),
    (["unix:/tmp/x"], None, False),
    (["stdio", "unix:/tmp/x"], None, False),
    (["unix:/tmp/x"], True, True),
])
def test_definitions_are_declared_where_a_server_takes_them(listen, written, offered, tmp_path):
    config = {"listen": listen, "callers": {}}
    if written is not None:
        config["callers"]["define_environments"] = written
    _, _, schema = function_of("mcp", config, tmp_path)
    assert ("environment_definition" in schema["properties"]) == offered


def test_what_callers_may_use_is_in_the_schema(tmp_path):
    config = {"callers": {"allowed_images": ["a.example/*"], "allowed_paths": ["/srv/shared"]}}
    _, _, schema = function_of("mcp", config, tmp_path)
    node = schema["properties"]["environment_definition"]
    assert "a.example/*" in node["properties"]["image"]["description"]
    assert "/srv/shared" in node["description"]
    assert {"volumes", "venv_path", "executable"} <= set(node["properties"])
    assert not {"host", "gpus", "user", "isolation", "pip_index_url"} & set(node["properties"])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_form_takes_the_same_calls(provider):
    _, _, schema = function_of(provider)
    strict = provider.startswith("openai")
    nulls = dict.fromkeys(OPTIONAL) if strict else {}
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid({**nulls, **CODE})
    assert validator.is_valid({**nulls, **CODE, "timeout": 5, "environment": "system",
                               "working_directory": "x"})
    assert validator.is_valid(CODE) is not strict
    assert not validator.is_valid({**nulls, **CODE, "environment": "elsewhere"})
    assert not validator.is_valid({**nulls, **CODE, "timeout": "5"})
    assert not validator.is_valid({**nulls, **CODE, "libraries": []})
    assert not validator.is_valid(nulls)


def without_what_pythons_said(tool):
    """TOOL as it is listed before a server has asked the Pythons of its environments."""
    described = tool["inputSchema"]["properties"].get("environment", {})
    if described:
        described["description"] = re.sub(r", Python [^;\n]*", "", described["description"])
    return tool


@pytest.mark.parametrize("results", ["text", "structured"])
def test_mcp_is_what_the_server_lists(results, tmp_path):
    config = {"results": results}
    with client.Server(config=config) as server:
        server.results = None
        server.initialize()
        listed = [without_what_pythons_said(tool) for tool in server.list_tools()]
    printed = declarations("mcp", config, tmp_path)
    assert [tool["name"] for tool in printed] == [tool["name"] for tool in listed]
    for one, other in zip(printed, listed):
        assert ("outputSchema" in one) == (results == "structured")
        for key in ("description", "inputSchema", "outputSchema", "annotations"):
            assert one.get(key) == other.get(key), key


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
def test_openai_strict_form(provider):
    tool = declaration(provider)
    assert tool["type"] == "function"
    function = tool["function"] if provider == "openai" else tool
    expected = {"name", "description", "strict", "parameters"}
    assert set(function) == (expected if provider == "openai" else expected | {"type"})
    assert function["strict"] is True
    schema = function["parameters"]
    assert "$schema" not in schema
    assert set(schema["required"]) == set(schema["properties"])
    for name in OPTIONAL:
        node = schema["properties"][name]
        assert node["type"][1] == "null", name
        assert "enum" not in node or None in node["enum"], name
    for node in nodes(schema):
        assert not {"minLength", "maxLength"} & set(node)
    assert len(json.dumps(schema)) < 120_000


def test_anthropic_strict_form():
    tool = declaration("anthropic")
    assert set(tool) == {"name", "description", "strict", "input_schema"}
    assert tool["strict"] is True
    schema = tool["input_schema"]
    assert schema["required"] == ["code"]
    limits = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength",
              "maxLength", "minItems", "maxItems", "multipleOf"}
    for node in nodes(schema):
        assert not limits & set(node)
    assert "At most 600." in schema["properties"]["timeout"]["description"]
    assert "At most 1048576 characters." in schema["properties"]["code"]["description"]


def test_gemini_form():
    tool = declaration("gemini")
    assert set(tool) == {"functionDeclarations"}
    (function,) = tool["functionDeclarations"]
    assert set(function) == {"name", "description", "parametersJsonSchema"}
    taken = {"type", "title", "description", "properties", "required", "additionalProperties",
             "enum", "items", "minItems", "maxItems", "minimum", "maximum", "format"}
    for node in nodes(function["parametersJsonSchema"]):
        assert set(node) <= taken
        assert isinstance(node["type"], str)
        assert all(isinstance(choice, str) for choice in node.get("enum", []))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_configuration_is_in_it(provider, tmp_path):
    config = {"max_timeout": 99, "environments": {"one": {"type": "system"},
                                                  "two": {"type": "system"}},
              "default_environment": "two"}
    printed = json.dumps(declaration(provider, config, tmp_path))
    assert '"one", "two"' in printed
    assert "99" in printed and "600" not in printed
    assert "Default: two" in printed


def test_a_strict_callers_nulls_are_taken():
    with client.Server() as server:
        server.initialize()
        result = server.call_tool("run_python", {**CODE, **dict.fromkeys(OPTIONAL)})
    assert result["structuredContent"]["stdout"] == "1\n"
