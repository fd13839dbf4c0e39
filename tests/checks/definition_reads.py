"""Where the program reads a key of an environment's definition from its JSON. Run as a program it prints the places."""

import json
import re
import sys

import c_source
import tree

READ = re.compile(
    r"\b(?:json_object_get\w*|json_object_copy_string|string_or)\s*\(\s*"
    r"(?:\(json_t \*\))?(?:\w+(?:->|\.))*definition,\s*(?P<key>\"[^\"]*\"|[^,()]+)")


def keys():
    """The keys that a definition of any type can have."""
    schemas = [path for path in tree.files(".json") if path.match("schemas/environment.*.json")]
    return {key for path in schemas for key in json.loads(tree.text(path))["properties"]}


def reads(text, known):
    """Yields each read in TEXT as (key, line). A key that is no literal may be any of KNOWN. Others call the
    description of a container a definition, too: its keys are not known."""
    for read in READ.finditer(c_source.parse(text).statements):
        key = text[read.start("key"):read.end("key")]
        if not key.startswith('"') or key.strip('"') in known:
            yield key.strip('"'), c_source.line_at(text, read.start())


def by_file():
    """The reads of each file of the program that has any."""
    known = keys()
    paths = [path for path in tree.files(".c", ".h") if path.parts[0] in ("environments", "server")]
    found = {str(path): list(reads(tree.text(path), known)) for path in paths}
    return {path: places for path, places in found.items() if places}


def main():
    found = by_file()
    for path, places in found.items():
        for key, line in places:
            print(f"{path}:{line}: {key}")
    print(f"{sum(map(len, found.values()))} reads in {len(found)} files", file=sys.stderr)


if __name__ == "__main__":
    main()
