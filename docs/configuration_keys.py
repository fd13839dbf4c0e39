#!/usr/bin/env python3
"""The keys of the configuration, from its JSON Schema.

usage: configuration_keys.py docs/configuration.md.in docs/configuration.md   after each change of a schema
       configuration_keys.py MANUAL.scd.in MANUAL.scd                         the same for the manual

The line @KEYS@ stands for the keys. In the document each has the lines of its "x-notes" after its description.
"""

import json
import re
import sys
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parents[1] / "schemas"
UNITS = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]


def load(name):
    return json.loads((SCHEMAS / name).read_text("utf-8"))


def resolve(name, node):
    """The name of a file and a schema in it: where NODE of the file NAME refers to, with what it
    says itself on top."""
    if "$ref" not in node:
        return name, node
    file, _, pointer = node["$ref"].partition("#")
    name = file or name
    target = load(name)
    for part in filter(None, pointer.split("/")):
        target = target[part]
    home, target = resolve(name, target)
    return home, {**target, **{key: value for key, value in node.items() if key != "$ref"}}


def forms(name, node):
    """Yields what NODE of the file NAME is for each of the types that it chooses by: the type, and
    the file and the schema of that form."""
    for form in node.get("allOf", []):
        yield (form["if"]["properties"]["type"]["const"], *resolve(name, form["then"]))


def place(path, paths):
    """Where PATH stands when the keys of a mapping follow it, and else all are as in PATHS."""
    parents = [path]
    while parents[0].rpartition(".")[0] in paths:
        parents.insert(0, parents[0].rpartition(".")[0])
    return [paths.index(parent) for parent in parents]


def merge(name, node, prefix):
    """Yields the keys of all the forms of NODE: those that mean the same in several forms once. Each
    schema says in "types" which forms it is of, if not of all of them."""
    merged = {}
    types = []
    for kind_name, home, form in forms(name, node):
        types.append(kind_name)
        for path, schema in keys(home, form, prefix):
            if path == f"{prefix}type":
                continue
            said = (summary(schema), schema["description"])
            merged.setdefault(path, {}).setdefault(said, (schema, []))[1].append(kind_name)
    for path, variants in sorted(merged.items(), key=lambda item: place(item[0], list(merged))):
        for i, (schema, of) in enumerate(variants.values()):
            name = path if i == 0 else f"{path} ({', '.join(of)})"
            yield name, (schema if of == types else {**schema, "types": of})


def keys(name="config.json", node=None, prefix=""):
    """Yields the dotted path and the resolved schema of every key that a person may write."""
    name, node = resolve(name, node or load(name))
    for key, member in node.get("properties", {}).items():
        home, member = resolve(name, member)
        yield prefix + key, member
        yield from keys(home, member, f"{prefix}{key}.")
        others = member.get("additionalProperties")
        if isinstance(others, dict):
            place = "NAME" if key == "environments" else "PATH"
            yield from keys(home, others, f"{prefix}{key}.{place}.")
    yield from merge(name, node, prefix)


def size(number):
    unit, factor = next((unit, factor) for unit, factor in UNITS if number % factor == 0)
    return f"{number // factor}{unit}"


WORDS = {"string": "text", "boolean": "`true` or `false`", "array": "list of text", "object": "mapping"}
PATHS = {"path": "path", "program-path": "path", "absolute-path": "absolute path"}
PLAIN = re.compile(r"([0-9]*[A-Za-z]|\.?/)[\w/.:>=-]*")  # text that YAML takes for itself without quotes


def either(words):
    words = list(words)
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def kind(schema):
    """What may be written there, in words."""
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return either(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema:
        return either(form.get("title") or kind(form) for form in schema["anyOf"])
    if schema.get("format") == "byte-size":
        return f"size, {size(schema['minimum'])} to {size(schema['maximum'])}"
    if schema.get("format") in PATHS:
        return PATHS[schema["format"]]
    if "x-wanted" in schema:
        return schema["x-wanted"]
    if schema["type"] in ("number", "integer"):
        word = "number" if schema["type"] == "number" else "whole number"
        least = schema.get("minimum", f"more than {schema.get('exclusiveMinimum')}")
        return f"{word}, {least} to {schema['maximum']}"
    if schema["type"] == "array" and schema["items"].get("$ref", "").endswith("/path"):
        return "list of paths"
    if schema["type"] == "array" and "x-wanted" in schema["items"]:
        return f"list, each {schema['items']['x-wanted']}"
    if "x-wanted" in schema.get("propertyNames", {}):
        return f"mapping, each key {schema['propertyNames']['x-wanted']}"
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return either(WORDS[each] for each in types)


def flow(value):
    """VALUE as it is written in YAML, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return value if isinstance(value, str) and PLAIN.fullmatch(value) else json.dumps(value)


def default(schema):
    return flow(schema["default"])


def summary(schema):
    text = kind(schema)
    if "default" in schema:
        text += f"; default `{default(schema)}`"
    if "types" in schema:
        text += f"; for type {either(f'`{name}`' for name in schema['types'])}"
    return text


def says_its_values(schema):
    """Whether the summary of SCHEMA is enough, without an example."""
    return ("enum" in schema or "x-wanted" in schema or schema.get("type") in ("boolean", "integer", "number")
            or "```yaml" in schema.get("x-notes", []))


def description(path, schema):
    """The description of the key at PATH, and examples."""
    if says_its_values(schema) or "examples" not in schema:
        return schema["description"]
    key = path.partition(" ")[0].rpartition(".")[2]
    return f"{schema['description']} For example {either(f'`{key}: {flow(value)}`' for value in schema['examples'])}."


def scdoc(text):
    """TEXT with what is special to scdoc escaped, `words` in bold."""
    for special in "\\_*<>":
        text = text.replace(special, "\\" + special)
    parts = text.split("`")
    return "".join(f"*{part}*" if i % 2 else part for i, part in enumerate(parts))


def man_page(path, schema):
    return f"*{scdoc(path)}* ({scdoc(summary(schema))})\n\t{scdoc(description(path, schema))}\n"


def document(path, schema):
    parts = [f"### `{path}`", summary(schema), description(path, schema), "\n".join(schema.get("x-notes", []))]
    return "\n\n".join(filter(None, parts)) + "\n"


def filled(source):
    """The text of the file SOURCE with the keys in it, in the form of that file."""
    form = document if ".md" in source.suffixes else man_page
    return source.read_text("utf-8").replace("@KEYS@\n", "\n".join(form(*each) for each in keys()))


def main():
    source, output = (Path(name) for name in sys.argv[1:])
    output.write_text(filled(source), "utf-8")


if __name__ == "__main__":
    main()
