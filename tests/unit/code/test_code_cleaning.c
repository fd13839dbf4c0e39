#include "server/tools/code/code_cleaning.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *code;
    const char *clean; /* NULL: it stays as it is */
    bool had_fence;
    bool had_magic;
} cases[] = {
    {"print(1)", NULL, false, false},
    {"```python\nx\n```", "         \nx\n", true, false},
    {"%matplotlib inline\nx", "                  \nx", false, true},
    {"x\n%config InlineBackend.figure_format = 'svg'\ny",
     "x\n                                           \ny", false, true},
    {"```\n%matplotlib inline\nx\n```", "   \n                  \nx\n", true, true},

    {"# -*- coding: cp1252 -*-\nx", "# -*- coding: utf-8 -*-\nx", false, false},
    {"```python\n# coding: gbk\nx\n```", "         \n# coding: utf-8\nx\n", true, false},
    {"%matplotlib inline\n# coding: gbk\nx", "                  \n# coding: utf-8\nx", false, true},
    {"\xEF\xBB\xBF# coding: cp1252\nx", "# coding: utf-8\nx", false, false},
    {"\xEF\xBB\xBF```\nx\n```", "   \nx\n", true, false},

    {"%timeit x", NULL, false, false},
    {"x = '''\n%matplotlib inline\n'''", NULL, false, false},
    {"x = (7\n%matplotlib)", NULL, false, false},
    {"if x:\n    %matplotlib inline", NULL, false, false},
    {"%matplotlib inline\nx = '", NULL, false, false},
    {"%matplotlib (\n1)", NULL, false, false},
};

static void test_only_what_is_certain_is_removed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct code_cleaning cleaned;

        code_cleaning_do(&cleaned, cases[i].code, strlen(cases[i].code));
        assert_int_equal(cleaned.had_fence, cases[i].had_fence);
        assert_int_equal(cleaned.had_magic, cases[i].had_magic);
        assert_int_equal(cleaned.copy != NULL, cases[i].clean != NULL);
        assert_string_equal(cleaned.text, cases[i].clean ? cases[i].clean : cases[i].code);
        assert_int_equal(cleaned.length, strlen(cleaned.text));
        code_cleaning_deinit(&cleaned);
    }
}

static void test_a_mark_before_the_code_is_no_character_of_it(void **state)
{
    static const char code[] = "\xEF\xBB\xBFprint(1)";
    struct code_cleaning cleaned;

    (void)state;
    code_cleaning_do(&cleaned, code, strlen(code));
    assert_ptr_equal(cleaned.text, code + 3);
    assert_int_equal(cleaned.length, strlen("print(1)"));
    assert_null(cleaned.copy);
    code_cleaning_deinit(&cleaned);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_what_is_certain_is_removed),
        cmocka_unit_test(test_a_mark_before_the_code_is_no_character_of_it),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
