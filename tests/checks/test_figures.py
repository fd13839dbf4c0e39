"""The program keeps its structure; how long its files are is a report, which figures.py prints."""

import c_source
import figures
import pytest

# What shows that the structure gives way: files that know too much of each other, functions that nobody can follow. A
# limit is raised where splitting would be worse. The length of a file is none of these: what belongs together stays so.
LIMITS = {
    "line width, max": 100,
    "function length, P90": 18,
    "function length, P99": 27,
    "function length, max": 43,
    "complexity, P99": 10,
    "complexity, max": 18,
    "brace nesting, P99": 2,
    "brace nesting, max": 3,
    "parameters, max": 7,
    "goto": 0,
    "call circles between files": 9,
    "files in the largest call circle": 3,
    "pairs of folders that include each other": 0,
    "includes upward between layers": 0,
    "includes upward between folders": 0,
}


@pytest.fixture(scope="module")
def measured():
    return figures.structure_figures(figures.read_program())


@pytest.mark.parametrize("row", LIMITS, ids=str)
def test_is_no_worse_than(row, measured):
    assert measured[row] <= LIMITS[row]


TEXT = """\
#include "base/log.h"

/* goto, if and } in a comment;
 * they do not count. */
static int job_count(struct job *job, int (*compare)(int, int), /* borrowed */
                     size_t limit)
{
    for (size_t i = 0; i < limit; i++) {
        switch (compare(1, 2)) {
        case 1:
            return limit > 3 && job ? 1 : 2;
        case '{':
            return log_text("if (x) { goto y; }");
        }
    }
    return 0;
}
"""


def function(text=TEXT):
    return c_source.parse(text).functions[0]


def test_a_function_is_as_long_as_from_its_name_to_its_brace():
    assert figures.length(function()) == 13


def test_complexity_counts_decisions():
    assert figures.complexity(function()) == 1 + len(["for", "case", "&&", "?", "case"])


def test_nesting_counts_braces():
    assert figures.nesting(function()) == 2


@pytest.mark.parametrize("parameters, count", [("void", 0), ("int x", 1), ("int x, int (*y)(int, int), ...", 3)])
def test_counts_parameters(parameters, count):
    assert figures.parameter_count(function(f"int job_count({parameters})\n{{\n}}\n")) == count


def test_counts_lines_that_hold_a_comment():
    assert figures.comment_percent([c_source.parse(TEXT)]) == 19  # 3 of 16


def test_counts_the_files_that_may_be_too_small_or_too_large():
    units = {f"{lines}.c": c_source.parse("int x;\n" * lines) for lines in (1, 60, 61, 500, 501)}
    found = figures.file_figures(figures.Program(units, {"a.h": c_source.parse("int x;\n")}))
    assert found[".c files of at most 60 lines"] == 2
    assert found[".c files above 500 lines"] == 1


def test_counts_each_goto():
    program = figures.Program({"a.c": c_source.parse("void a(void)\n{\n    goto b;\nb:\n    goto b;\n}\n")}, {})
    assert figures.function_figures(program)["goto"] == 2


def program_of(**files):
    return figures.Program({name: c_source.parse(text) for name, text in files.items()}, {})


def defines(name, calls="", static=""):
    return f"{static}void {name}(void)\n{{\n    {calls};\n}}\n"


def test_finds_a_circle_of_calls_between_files():
    calls = figures.calls(program_of(
        a=defines("job_begin", "task_begin()"), b=defines("task_begin", "tree_begin()"),
        c=defines("tree_begin", "job_begin()"), d=defines("main", "job_begin()")))
    assert figures.circles(calls) == [{"a", "b", "c"}]


def test_a_call_of_a_static_function_leads_to_no_other_file():
    calls = figures.calls(program_of(
        a=defines("job_begin") + defines("settle"),
        b=defines("settle", static="static ") + defines("task_begin", "settle()")))
    assert calls == {"a": set(), "b": set()}


def test_of_two_programs_functions_the_nearest_is_called():
    calls = figures.calls(program_of(**{
        "init/main.c": defines("main", "report()"), "init/report.c": defines("report"),
        "runner/report.c": defines("report")}))
    assert calls["init/main.c"] == {"init/report.c"}


@pytest.mark.parametrize("share, value", [(0, 1), (50, 5), (90, 9), (91, 10), (100, 10)])
def test_a_percentile_is_one_of_the_values(share, value):
    assert figures.percentile(share, range(1, 11)) == value


@pytest.mark.parametrize("table", ["struct state job_states", "unsigned job_next_states", "unsigned next_stages"])
def test_a_table_of_steps_is_a_state_machine(table):
    assert figures.machines([f"static const {table}[] = {{\n}};\n", "int x;\n"]) == 1


def test_a_file_that_says_the_key_names_it():
    assert figures.files_of_the_key([f'{{"{figures.KEY}", 1}}', f"limits.{figures.KEY}", f"{figures.KEY}ly"]) == 2
