"""A name stands once in the whole program, so that a stack trace and a search find one thing."""

import c_source
import names
import pytest
import tree


def test_every_name_stands_once():
    found = names.shared({str(path): c_source.parse(tree.text(path)) for path in names.sources()})
    assert not found, "\n" + names.report(found)


@pytest.mark.parametrize("pair", names.ALTERNATIVES, ids=" or ".join)
def test_alternatives_define_a_function_of_the_same_name(pair):
    first, second = ({function.name for function in c_source.parse(tree.text(path)).functions} for path in pair)
    assert first & second


def parsed(**files):
    return {name: c_source.parse(text) for name, text in files.items()}


FUNCTION = "static int job_count(void)\n{\n    return 1;\n}\n"


@pytest.mark.parametrize("text", [
    FUNCTION,
    "#define job_count 1\n",
    "#define job_count(x) \\\n    (x)\n",
    "struct job *\njob_count(int wrapped,\n          int parameter)\n{\n}\n",
    "DEFINE(x)\n\nint job_count(void)\n{\n}\n",
    "__attribute__((format(printf, 1, 2))) void job_count(const char *format, ...)\n{\n}\n",
])
def test_finds_a_function_and_a_macro(text):
    assert list(names.shared(parsed(a=FUNCTION, b=text))) == ["job_count"]


@pytest.mark.parametrize("keyword", ["struct", "union", "enum"])
def test_finds_a_tag(keyword):
    found = names.shared(parsed(a="struct job {\n    int x;\n};\n", b=f"\n{keyword} job {{\n    X\n}};\n"))
    assert found == {"struct, union or enum job": [("a", 1), ("b", 2)]}


@pytest.mark.parametrize("text", [
    "int job_count(void);\n",
    "struct job;\n",
    "/* static int job_count(void)\n{\n}\n*/\n",
    'static const char text[] = "struct job {";\n',
    "#undef job_count\n",
    "int main(void)\n{\n    return job_count();\n}\n",
])
def test_finds_no_declaration_no_use_and_nothing_in_comments_and_strings(text):
    both = FUNCTION + "struct job {\n    int x;\n};\nint main(void)\n{\n}\n"
    assert names.shared(parsed(a=both, b=text)) == {}
