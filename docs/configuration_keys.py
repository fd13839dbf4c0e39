#!/usr/bin/env python3
"""The keys of the configuration, from its JSON Schema.

usage: configuration_keys.py MANUAL.scd.in MANUAL.scd   puts them where the line @KEYS@ is
"""

import json
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


def keys(name="config.json", node=None, prefix=""):
    """Yields the dotted path and the resolved schema of every key that a person may write."""
    name, node = resolve(name, node or load(name))
    for key, member in node.get("properties", {}).items():
        home, member = resolve(name, member)
        yield prefix + key, member
        yield from keys(home, member, f"{prefix}{key}.")
        others = member.get("additionalProperties")
        if isinstance(others, dict) and "$ref" in others:
            yield from keys(home, others, f"{prefix}{key}.NAME.")


def size(number):
    unit, factor = next((unit, factor) for unit, factor in UNITS if number % factor == 0)
    return f"{number // factor}{unit}"


def kind(schema):
    """What may be written there, in words."""
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("format") == "byte-size":
        return f"size, {size(schema['minimum'])} to {size(schema['maximum'])}"
    if schema["type"] in ("number", "integer"):
        word = "number" if schema["type"] == "number" else "whole number"
        least = schema.get("minimum", f"more than {schema.get('exclusiveMinimum')}")
        return f"{word}, {least} to {schema['maximum']}"
    return {"string": "text", "array": "list of text", "object": "mapping"}[schema["type"]]


def summary(schema):
    if "default" not in schema:
        return kind(schema)
    default = schema["default"]
    default = default if isinstance(default, str) else json.dumps(default)
    return f"{kind(schema)}; default `{default}`"


def scdoc(text):
    """TEXT with what is special to scdoc escaped, `words` in bold."""
    for special in "\\_*<>":
        text = text.replace(special, "\\" + special)
    parts = text.split("`")
    return "".join(f"*{part}*" if i % 2 else part for i, part in enumerate(parts))


def main():
    source, output = (Path(name) for name in sys.argv[1:])
    text = "\n".join(
        f"*{scdoc(path)}* ({scdoc(summary(schema))})\n\t{scdoc(schema['description'])}\n"
        for path, schema in keys()
    )
    output.write_text(source.read_text("utf-8").replace("@KEYS@\n", text), "utf-8")


if __name__ == "__main__":
    main()
