#include "server/tools/hints/earlier_names.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void note(struct earlier_names *names, const char *directory, const char *code)
{
    earlier_names_note(names, directory, code, strlen(code));
}

/* "a, b", owned by the caller. */
static char *keys_of(const json_t *object)
{
    AUTO_JSON json_t *keys = json_array();
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)object, key, value)
        json_array_append_new(keys, json_string(key));
    return json_list(keys);
}

static void test_names_are_those_that_a_script_defines_at_its_top(void **state)
{
    static const struct {
        const char *code;
        const char *names;
    } cases[] = {
        {"x = 7", "x"},
        {"x: int = 7\ny += 1", "x"},
        {"a, b = 1, 2", "a, b"},
        {"def f(a):\n  b = 1\nclass C:\n  d = 2\n", "f, C"},
        {"import numpy as np, os", "np, os"},
        {"import a.b", "a"},
        {"from a.b import c as d, e", "d, e"},
        {"from a import (\n  b,\n  c as d,\n)", "b, d"},
        {"import\ta", ""},
        {"x = 1\nx = 2", "x"},
        {"x[1] = 2\nx.y = 3\nf(z=4)\nif a == b: pass\n", ""},
        {"print('x = 1')\n# y = 1\n'''\nz = 1\n'''", ""},
        {"x = 1\ny = '", "x"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct earlier_names *names = earlier_names_new();
        AUTO_FREE char *list = NULL;

        note(names, "d", cases[i].code);
        list = keys_of(earlier_names_of(names, "d"));
        assert_string_equal(list, cases[i].names);
        earlier_names_free(names);
    }
}

static void test_they_are_kept_for_the_directories_that_were_used_last(void **state)
{
    struct earlier_names *names = earlier_names_new();

    (void)state;
    assert_null(earlier_names_of(names, "first"));
    note(names, "first", "a = 1");
    note(names, "second", "b = 1");
    for (unsigned i = 0; i < EARLIER_DIRECTORIES - 1; i++) {
        AUTO_FREE char *directory = memory_format("%u", i);

        note(names, "first", "c = 1");
        if (i > 0)
            note(names, directory, "d = 1");
    }
    assert_int_equal(json_object_size(earlier_names_of(names, "first")), 2);
    assert_non_null(earlier_names_of(names, "second"));
    note(names, "another", "");
    assert_null(earlier_names_of(names, "second"));
    assert_non_null(earlier_names_of(names, "first"));
    earlier_names_free(names);
}

static void test_only_so_many_are_kept(void **state)
{
    struct earlier_names *names = earlier_names_new();

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        AUTO_FREE char *code = memory_format("x%u = 1", i);

        note(names, "d", code);
    }
    assert_int_equal(json_object_size(earlier_names_of(names, "d")), 200);
    earlier_names_free(names);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_those_that_a_script_defines_at_its_top),
        cmocka_unit_test(test_they_are_kept_for_the_directories_that_were_used_last),
        cmocka_unit_test(test_only_so_many_are_kept),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
