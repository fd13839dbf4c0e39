"""What every sandbox shows of the machine's programs is known where the needs of a Python are found, too."""

import re

import tree


def strings_of(path, name):
    """The strings in the array NAME of the C source PATH."""
    body = re.search(rf"\b{name}\[\] = {{(.*?)\n?}};", tree.text(path), re.DOTALL).group(1)
    return body, re.findall(r'"([^"]*)"', body)


def test_programs_are_shown_where_pythons_are_looked_for():
    entries, _ = strings_of("environments/process/runner/root_table.c", "root_entries")
    shown = re.findall(r'\{"([^"]*)", PROGRAMS,', entries)
    assert shown
    assert strings_of("environments/interpreter/needed_paths.c", "shown")[1] == shown
