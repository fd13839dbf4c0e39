"""Names that stand more than once in the program: of functions (static ones, too), of structs,
unions and enums, of macros. Run as a program it prints them with their places."""

import collections
import sys

import c_source
import tree

FOLDERS = ("base", "environments", "examples", "schemas", "server", "toolbox")

# Linked instead of one another, so they define the same public functions.
ALTERNATIVES = [
    ("server/transport/http/tls.c", "server/transport/http/tls_absent.c"),
    ("server/transport/oauth/oauth.c", "server/transport/oauth/absent.c"),
]


def sources(paths=None):
    """Those of PATHS (of all files) that are C sources of the program."""
    return [
        path for path in (tree.files() if paths is None else paths)
        if path.suffix in (".c", ".h") and path.parts[0] in FOLDERS
    ]


def definitions(source):
    """Yields what SOURCE defines as (kind, name, line). Functions and macros are called alike."""
    for function in source.functions:
        if function.name != "main":  # each program has one
            yield "", function.name, function.line
    for name, line in source.macros:
        yield "", name, line
    for name, line in source.tags:
        yield "struct, union or enum ", name, line


def are_alternatives(paths):
    return tuple(sorted(paths)) in [tuple(sorted(pair)) for pair in ALTERNATIVES]


def shared(parsed):
    """The names that stand more than once in PARSED, by path, each with its places as (path, line)."""
    found = collections.defaultdict(list)
    for path, source in parsed.items():
        for kind, name, line in definitions(source):
            found[kind + name].append((path, line))
    return {
        name: places for name, places in sorted(found.items())
        if len(places) > 1 and not are_alternatives([path for path, _ in places])
    }


def report(names):
    """One line for each name, and below it one for each place."""
    return "\n".join(
        "\n".join([name, *(f"    {path}:{line}" for path, line in places)])
        for name, places in names.items()
    )


def main():
    names = shared({str(path): c_source.parse(tree.text(path)) for path in sources()})
    if names:
        print(report(names))
    print(f"{len(names)} names stand more than once", file=sys.stderr)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
