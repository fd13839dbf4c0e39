#include "server/tools/code/python_source.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *code;
    const char *lines; /* NUMBER:INDENT:TEXT for each, with "|" between them */
    bool is_lost;
} cases[] = {
    {"", "", false},
    {"a\nb", "1:0:a|2:0:b", false},
    {"\n  # c\n\n  a  # b\n", "4:2:a", false},
    {"if a:\r\n\tb\r\n", "1:0:if a:|2:1:b", false},
    {"f(a,\n  b)\nc", "1:0:f(a,\n  b)|3:0:c", false},
    {"f(a, # )\n  b)", "1:0:f(a, # )\n  b)", false},
    {"a = \\\n  1\nb", "1:0:a = \\\n  1|3:0:b", false},
    {"a = \\\r\n  1\r\nb", "1:0:a = \\\r\n  1|3:0:b", false},
    {"a = 'x\\\r\ny'\r\nb", "1:0:a = 'x\\\r\ny'|3:0:b", false},
    {"a = '#'\nb", "1:0:a = '#'|2:0:b", false},
    {"a = 'it\\'s (' # x\nb", "1:0:a = 'it\\'s ('|2:0:b", false},
    {"a = \"\"\"x\n# y\n\"\"\"\nb", "1:0:a = \"\"\"x\n# y\n\"\"\"|4:0:b", false},
    {"a = '''x\n'y' '' \n'''; b", "1:0:a = '''x\n'y' '' \n'''; b", false},
    {"a = ''\nb", "1:0:a = ''|2:0:b", false},
    {"a = 'x\nb", "1:0:a = 'x|2:0:b", true},
    {"f(a\nb", "1:0:f(a\nb", true},
    {"f(a))\nb", "1:0:f(a))|2:0:b", true},
    {"'''x\n", "1:0:'''x\n", true},
};

static void test_logical_lines_end_where_python_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *lines = memory_copy_string("");
        struct python_source source;
        struct python_line line;

        python_source_init(&source, cases[i].code, strlen(cases[i].code));
        while (python_source_next(&source, &line)) {
            char *longer = memory_format("%s%s%u:%zu:%.*s", lines, *lines ? "|" : "", line.number,
                                         line.indent, (int)line.length, line.text);

            free(lines);
            lines = longer;
        }
        assert_string_equal(lines, cases[i].lines);
        assert_int_equal(source.is_lost, cases[i].is_lost);
    }
}

static void test_marks_are_outside_of_brackets_and_comparisons(void **state)
{
    static const struct {
        const char *code;
        char mark; /* '\0': none */
        bool has_stop;
    } lines[] = {
        {"a = 1", '=', false},        {"a += 1", '=', false},  {"a <<= 1", '=', false},
        {"a: int = 1", ':', false},   {"if a: b", ':', false}, {"a == 1", '\0', false},
        {"a <= 1", '\0', false},      {"a != 1", '\0', false}, {"a >= b == c", '\0', false},
        {"f(a=1)", '\0', false},      {"a[1:2]", '\0', false}, {"{a: 1}", '\0', false},
        {"'a = 1'", '\0', false},     {"a; b", '\0', true},    {"f(';')", '\0', false},
        {"a == 1; b = 2", '=', true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        struct python_source source;
        struct python_line line;

        python_source_init(&source, lines[i].code, strlen(lines[i].code));
        assert_true(python_source_next(&source, &line));
        assert_int_equal(line.mark ? *line.mark : '\0', lines[i].mark);
        assert_int_equal(line.stop != NULL, lines[i].has_stop);
    }
}

static void test_text_is_found_outside_of_strings_and_comments(void **state)
{
    static const struct {
        const char *code;
        const char *words;
        bool is_found;
    } found[] = {
        {"import sys\nsys.argv", "sys.argv", true},
        {"f(sys.argv)", "sys.argv", true},
        {"# sys.argv\n", "sys.argv", false},
        {"a = 'sys.argv'", "sys.argv", false},
        {"\"\"\"\nsys.argv\n\"\"\"", "sys.argv", false},
        {"mysys.argv", "sys.argv", false},
        {"figure.show()", ".show(", true},
        {"a = 'x' # y\nf()", "f(", true},
        {"sys.arg", "sys.argv", false},
        {"a = 'x\nf()", "f(", true},
        {"", "f(", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(found); i++)
        assert_int_equal(python_source_has(found[i].code, strlen(found[i].code), found[i].words),
                         found[i].is_found);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_found_outside_of_strings_and_comments),
        cmocka_unit_test(test_logical_lines_end_where_python_says),
        cmocka_unit_test(test_marks_are_outside_of_brackets_and_comparisons),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
