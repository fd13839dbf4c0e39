"""Which mutations there are of a source, and which are accepted."""

import mutations
import pytest

HEAD = "static bool job_is_old(int x)\n"


def lines_after(body, head=HEAD):
    """What the mutations of a function with this BODY make of it."""
    return {mutation.after for mutation in mutations.of_text("a.c", f"{head}{{\n    {body}\n}}\n")}


@pytest.mark.parametrize("body, expected", [
    ("x = y < z;", {"x = y <= z;"}),
    ("x = y == z;", {"x = y != z;"}),
    ("x = a && b;", {"x = a || b;"}),
    ("x = a + b * c;", {"x = a - b * c;", "x = a + b / c;"}),
    ("x++;", {"x--;"}),
    ("x = 8;", {"x = 9;", "x = 7;"}),
    ("x = 0;", {"x = 1;"}),
    ("return 0;", {"return -1;"}),
    ("return true;", {"return false;"}),
    ('return is_open(x, "{}");', {'return !(is_open(x, "{}"));'}),
    ('if (is_open(x, "a"))', {'if (!(is_open(x, "a")))'}),
    ('job_end(x, "a");', {";"}),
    ("job->end(job);", {";"}),
])
def test_changes(body, expected):
    assert lines_after(body) == expected


@pytest.mark.parametrize("body", [
    "x = y;",
    "struct job *job = a->b;",
    'log_text("1 < 2 && 3 + 4");',
    "assert(is_open(x));",
    "struct job job = {0};",
    "x = 0x10 << SHIFT;",
    "/* 1 < 2 */",
    "x = left_fd >= 0;",
])
def test_leaves_alone(body):
    assert lines_after(body) == set()


def test_only_a_truth_is_negated_where_it_is_returned():
    assert lines_after("return x;", "static int job_count(int x)\n") == set()


@pytest.mark.parametrize("text, expected", [
    ("#define JOB_ROUNDS 8 /* most */\n", ["#define JOB_ROUNDS 9 /* most */"]),
    ("enum { JOB_ROUNDS = 8 };\n", ["enum { JOB_ROUNDS = 9 };"]),
    ("enum {\n    JOB_ROUNDS = 8,\n};\n", ["JOB_ROUNDS = 9,"]),
    ("static const int x = 8;\n", []),
])
def test_changes_named_numbers(text, expected):
    assert [mutation.after for mutation in mutations.of_text("a.c", text)] == expected


def test_a_mutation_says_where_it_is_and_can_be_made():
    text = HEAD + "{\n    /* 1 */\n    return x <\n           2;\n}\n"
    swap = next(each for each in mutations.of_text("a.c", text) if each.replacement == "<=")
    assert (swap.line, swap.function, swap.before) == (4, "job_is_old", "return x <")
    assert swap.apply(text) == text.replace("<", "<=")


LIST = """\
# What this is.

a.c job_is_old
- x = y < z;
+ x = y <= z;
They are never equal, because
one of them is odd.

a.c job_is_old
- job_end(x);
+ ;
Nothing is left to end.
"""


def test_reads_the_list_of_accepted_mutations():
    assert mutations.accepted(LIST) == {
        ("a.c", "job_is_old", "x = y < z;", "x = y <= z;"):
            "They are never equal, because one of them is odd.",
        ("a.c", "job_is_old", "job_end(x);", ";"): "Nothing is left to end.",
    }


def test_the_list_can_be_read():
    assert all(mutations.accepted(mutations.ACCEPTED.read_text()).values())
