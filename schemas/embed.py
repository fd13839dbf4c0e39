#!/usr/bin/env python3
"""Turns JSON Schema files into one C file with the text of each (see schemas.h).

usage: embed.py OUTPUT.c SCHEMA.json...

A reference to another file ("common.json#/$defs/size") becomes a local one: the other document is
copied into `$defs` under its name, and its own references are led there too. So each text stands
alone, which is all that the validator understands. What stands in "x-notes" is for docs/configuration.md
alone and is left out.
"""

import json
import sys
from pathlib import Path


def load(path):
    def without_duplicates(pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            sys.exit(f"{path}: a key is given twice among {keys}")
        return dict(pairs)

    return json.loads(path.read_text("utf-8"), object_pairs_hook=without_duplicates)


def rewrite(node, home, seen):
    """A copy of NODE with every reference local to the bundle. HOME is where the document that NODE
    is part of stands in the bundle; the names of the files referred to are added to SEEN."""
    if isinstance(node, list):
        return [rewrite(item, home, seen) for item in node]
    if not isinstance(node, dict):
        return node
    copy = {key: rewrite(value, home, seen) for key, value in node.items() if key != "x-notes"}
    if isinstance(node.get("$ref"), str):
        name, _, pointer = node["$ref"].partition("#")
        if name and name not in seen:
            seen.append(name)
        copy["$ref"] = (f"#/$defs/{name}" if name else f"#{home}") + pointer
    return copy


def bundle(name, documents):
    """The document NAME with all the documents it refers to, however indirectly, in its $defs."""
    seen = []
    result = rewrite(documents[name], "", seen)
    for other in seen:  # grows while it is walked
        if other not in documents:
            sys.exit(f"{name}: refers to {other}, which is not among the schemas")
        copy = rewrite(documents[other], f"/$defs/{other}", seen)
        copy.pop("$schema", None)
        result.setdefault("$defs", {})[other] = copy
    return result


def c_string(text):
    """TEXT (ASCII) as C string literals, one for each part of 80 characters."""
    parts = (text[start : start + 80] for start in range(0, len(text), 80))
    quoted = ('"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"' for part in parts)
    return "\n     ".join(quoted)


def default_cpus(documents):
    """The only default of an environment's limits that is not the server's limit."""
    return documents["environment.docker.json"]["properties"]["limits"]["properties"]["cpus"]["default"]


def main():
    output, *inputs = sys.argv[1:]
    documents = {Path(path).name: load(Path(path)) for path in inputs}
    rows = []
    for name in documents:
        text = json.dumps(bundle(name, documents), separators=(",", ":"))
        rows.append(f'    {{"{name.removesuffix(".json")}",\n     {c_string(text)}}},\n')
    Path(output).write_text(
        "/* Made by embed.py. */\n"
        '#include "schemas/schemas.h"\n\n'
        "#include <stddef.h>\n#include <string.h>\n\n"
        "static const struct {\n    const char *name;\n    const char *text;\n} schemas[] = {\n"
        + "".join(rows)
        + "};\n\n"
        f"const double schemas_default_cpus = {default_cpus(documents)};\n\n"
        "const char *schemas_find(const char *name)\n{\n"
        "    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {\n"
        "        if (strcmp(schemas[i].name, name) == 0)\n"
        "            return schemas[i].text;\n"
        "    }\n    return NULL;\n}\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
