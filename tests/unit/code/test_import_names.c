#include "server/tools/code/import_names.h"

#include "base/cleanup.h"
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
    const char *names;
} cases[] = {
    {"", "[]"},
    {"import numpy", "[\"numpy\"]"},
    {"import numpy as np, os.path, numpy\nimport a\n", "[\"numpy\",\"os.path\",\"a\"]"},
    {"from scipy import stats as s, optimize", "[\"scipy\",\"scipy.stats\",\"scipy.optimize\"]"},
    {"from a.b import (\n  c,\n  d,\n)", "[\"a.b\",\"a.b.c\",\"a.b.d\"]"},
    {"from a import \\\n  b", "[\"a\",\"a.b\"]"},
    {"from a import *", "[\"a\"]"},
    {"try:\n    import b\nexcept ImportError:\n    import c; import d", "[\"b\",\"c\"]"},
    {"'''\nimport nothing\n'''\n# import nothing\nimportant = 'import x'", "[]"},
    {"from . import a\nfrom .b import c\nfrom", "[]"},
    {"import a.\nimport .b\nimport", "[]"},
    {"print('a'); import b", "[]"},
};

static void test_names_are_those_of_import_statements(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_JSON json_t *names = import_names_read(cases[i].code, strlen(cases[i].code));
        AUTO_FREE char *text = json_text(names);

        assert_string_equal(text, cases[i].names);
    }
}

static void test_what_can_not_be_of_use_is_left_out(void **state)
{
    char code[40 * 12];
    size_t length = 0;

    (void)state;
    for (int i = 0; i < 40; i++)
        length += (size_t)snprintf(code + length, sizeof code - length, "import m%d\n", i);
    AUTO_JSON json_t *names = import_names_read(code, length);
    assert_int_equal(json_array_size(names), 32);
}

static void test_a_name_without_end_is_none(void **state)
{
    AUTO_FREE char *code = memory_new(1, 10000);

    (void)state;
    memset(code, 'a', 10000);
    memcpy(code, "import ", strlen("import "));
    AUTO_JSON json_t *names = import_names_read(code, 10000);
    assert_int_equal(json_array_size(names), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_those_of_import_statements),
        cmocka_unit_test(test_what_can_not_be_of_use_is_left_out),
        cmocka_unit_test(test_a_name_without_end_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
