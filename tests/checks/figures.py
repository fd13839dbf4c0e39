"""The figures of the program: how large it is and in how many places it says one thing; of its C sources, how long,
how deep, how entangled.

Run as a program it prints them as a table; `--against REVISION` puts those of that revision beside them.
"""

import argparse
import collections
import dataclasses
import math
import os
import re

import c_source
import definition_reads
import english
import layers
import names
import tree

DECISION = re.compile(r"\b(?:if|for|while|case)\b|\?|&&|\|\|")
GOTO = re.compile(r"\bgoto\b")
CALL = re.compile(r"\b(\w+)\s*\(")
MACHINE = re.compile(r"^static const (?:struct state \w+|unsigned (?:\w+_)?next_\w+)\[\]", re.MULTILINE)
PRODUCT = ("base", "environments", "server", "toolbox")  # what is installed and runs, without the Python package
CONTAINERS = ("environments/docker/", "environments/engine/")  # with the init of a container
KEY = "nice"  # a key of environments that is a setting like most


@dataclasses.dataclass
class Program:
    """Each .c and .h file of the program, by its path in the tree."""

    units: dict
    headers: dict

    def files(self):
        return {**self.units, **self.headers}

    def functions(self):
        return [function for source in self.files().values() for function in source.functions]


def read_program():
    parsed = {str(path): c_source.parse(tree.text(path)) for path in names.sources()}
    return Program(
        units={path: source for path, source in parsed.items() if path.endswith(".c")},
        headers={path: source for path, source in parsed.items() if path.endswith(".h")},
    )


# One number of many


def percentile(share, values):
    """The smallest of VALUES that SHARE percent of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(len(ordered) * share / 100), 1) - 1]


def median(values):
    return percentile(50, values)


def percent(part, whole):
    return round(100 * part / whole)


# Files


def line_count(source):
    return source.text.count("\n")


def code_lines(source):
    return {number for number, line in enumerate(source.code.splitlines(), 1) if line.strip()}


def comment_percent(sources):
    comments = sum(len(source.comment_lines) for source in sources)
    return percent(comments, sum(len(source.comment_lines | code_lines(source)) for source in sources))


def file_figures(program):
    units = [line_count(source) for source in program.units.values()]
    headers = [line_count(source) for source in program.headers.values()]
    widths = [len(line) for source in program.files().values() for line in source.text.splitlines()]
    return {
        ".c files": len(units),
        ".c lines": sum(units),
        ".c length, median": median(units),
        ".c length, P90": percentile(90, units),
        ".c length, max": max(units),
        ".c files of at most 60 lines": sum(length <= 60 for length in units),
        ".c files above 500 lines": sum(length > 500 for length in units),
        ".h files": len(headers),
        ".h lines": sum(headers),
        ".h length, median": median(headers),
        ".h length, P90": percentile(90, headers),
        ".h length, max": max(headers),
        "line width, P99": percentile(99, widths),
        "line width, max": max(widths),
        "comment lines in .c, %": comment_percent(program.units.values()),
        "comment lines in .h, %": comment_percent(program.headers.values()),
    }


# Functions


def length(function):
    return function.last_line - function.line + 1


def complexity(function):
    return 1 + len(DECISION.findall(function.body))


def nesting(function):
    depth = deepest = 0
    for brace in re.findall("[{}]", function.body):
        depth += 1 if brace == "{" else -1
        deepest = max(deepest, depth)
    return deepest


def parameter_count(function):
    inside = function.parameters
    return 0 if inside in ("", "void") else len(re.sub(r"\([^()]*\)", "", inside).split(","))


def function_figures(program):
    functions = program.functions()
    lengths = [length(function) for function in functions]
    complexities = [complexity(function) for function in functions]
    nestings = [nesting(function) for function in functions]
    parameters = [parameter_count(function) for function in functions]
    gotos = sum(len(GOTO.findall(function.body)) for function in functions)
    return {
        "functions": len(functions),
        "functions per .c, median": median([len(source.functions) for source in program.units.values()]),
        "functions per .c, max": max(len(source.functions) for source in program.units.values()),
        "function length, median": median(lengths),
        "function length, P90": percentile(90, lengths),
        "function length, P99": percentile(99, lengths),
        "function length, max": max(lengths),
        "functions over 60 lines": sum(length > 60 for length in lengths),
        "functions over 100 lines": sum(length > 100 for length in lengths),
        "complexity, median": median(complexities),
        "complexity, P90": percentile(90, complexities),
        "complexity, P99": percentile(99, complexities),
        "complexity, max": max(complexities),
        "brace nesting, P90": percentile(90, nestings),
        "brace nesting, P99": percentile(99, nestings),
        "brace nesting, max": max(nestings),
        "parameters, P90": percentile(90, parameters),
        "parameters, max": max(parameters),
        "goto": gotos,
        "static functions, %": percent(sum(function.is_static for function in functions), len(functions)),
    }


# What a file has to do with others


def common_folders(path, other):
    return len(os.path.commonpath([os.path.dirname(path) + "/x", os.path.dirname(other) + "/x"]).split("/"))


def defining_files(program):
    """Which .c files define the public function of each name."""
    found = collections.defaultdict(set)
    for path, source in program.units.items():
        for function in source.functions:
            if not function.is_static:
                found[function.name].add(path)
    return found


def calls(program):
    """Which other .c files each .c file calls. Where several define a name (programs of their own
    do), the nearest are meant."""
    defining = defining_files(program)
    found = {}
    for path, source in program.units.items():
        own = {function.name for function in source.functions}
        called = {name for function in source.functions for name in CALL.findall(function.body)} - own
        found[path] = set()
        for name in called & set(defining):
            nearest = max(common_folders(path, other) for other in defining[name])
            found[path] |= {other for other in defining[name] if common_folders(path, other) == nearest}
    return found


def reachable(graph, start):
    found = set()
    waiting = [start]
    while waiting:
        for node in graph[waiting.pop()] - found:
            found.add(node)
            waiting.append(node)
    return found


def circles(graph):
    """The groups of nodes in GRAPH that reach each other, the largest first."""
    reached = {node: reachable(graph, node) for node in graph}
    groups = {
        frozenset(other for other in reached[node] if node in reached[other])
        for node in graph if node in reached[node]
    }
    return sorted(groups, key=len, reverse=True)


def inclusions(program):
    """Each include of one of the program's files by another, as (path, name)."""
    files = program.files()
    return [(path, name) for path, source in files.items() for name in source.includes if name in files]


def folder_graph(program):
    """Which other folders each folder includes from; main stands above its own."""
    graph = {os.path.dirname(path): set() for path in program.files()}
    for path, name in inclusions(program):
        if path != layers.MAIN:
            graph[os.path.dirname(path)].add(os.path.dirname(name))
    return {folder: included - {folder} for folder, included in graph.items()}


def entanglement_figures(program):
    found = circles(calls(program))
    folders = folder_graph(program)
    included = inclusions(program)
    return {
        "includes per .c, median": median([len(source.includes) for source in program.units.values()]),
        "call circles between files": len(found),
        "files in the largest call circle": len(found[0]) if found else 0,
        "folders": len(folders),
        "arrows between folders": sum(len(below) for below in folders.values()),
        "pairs of folders that include each other": sum(
            here < there and here in folders[there] for here in folders for there in folders[here]),
        "includes upward between layers": sum(
            not layers.may_include(layers.layer_of(path), layers.layer_of(name))
            for path, name in included if layers.layer_of(path)),
        "includes upward between folders": sum(layers.is_upward_folder(path, name) for path, name in included),
        "names that stand more than once": len(names.shared(program.files())),
    }


def structure_figures(program):
    return {**file_figures(program), **function_figures(program), **entanglement_figures(program)}


# How many places say one thing


def product():
    """The text of each file of the program, in every language, by its path in the tree."""
    paths = [path for path in tree.files(".c", ".h", ".py") if path.parts[0] in PRODUCT]
    return {str(path): tree.text(path) for path in paths}


def machines(texts):
    """How many state machines TEXTS have: each has one table of the steps that it may take."""
    return sum(len(MACHINE.findall(text)) for text in texts)


def files_of_the_key(texts):
    """How many files of the program name KEY; - where environments have no such key."""
    if KEY not in definition_reads.keys():
        return "-"
    return sum(bool(re.search(rf"\b{KEY}\b", text)) for text in texts)


def headless_percent():
    sentences, headless = (sum(column) for column in zip(*english.counted(names.sources()).values()))
    return round(100 * headless / sentences, 1)


def effort_figures():
    texts = product()
    reads = definition_reads.by_file()
    return {
        "files of the program": len(texts),
        "lines of the program": sum(text.count("\n") for text in texts.values()),
        "lines about containers": sum(
            text.count("\n") for path, text in texts.items() if path.startswith(CONTAINERS)),
        "state machines": machines(texts.values()),
        f"files that name the key `{KEY}`": files_of_the_key(texts.values()),
        "reads of a definition's keys": sum(map(len, reads.values())),
        "files that read a definition's keys": len(reads),
        "headless sentences in comments, %": headless_percent(),
    }


def figures():
    return {**effort_figures(), **structure_figures(read_program())}


def figures_at(revision):
    with tree.at(revision):
        return figures()


def table(columns):
    """The COLUMNS (title and figures each) side by side, as lines."""
    rows = [["", *columns]]
    for name in next(iter(columns.values())):
        rows.append([name, *(str(column[name]) for column in columns.values())])
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
        for row in rows
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", metavar="REVISION", help="show the figures of this revision, too")
    revision = parser.parse_args().against
    columns = {"this tree": figures()}
    if revision:
        columns[revision] = figures_at(revision)
    print("\n".join(table(columns)))


if __name__ == "__main__":
    main()
