#include "server/tools/code/block_file_name.h"

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
    const char *name; /* NULL: none */
} named[] = {
    {"# filename: a.py\nprint(1)", "a.py"},
    {"# filename: a.py", "a.py"},
    {"#filename:a.py\r\nx", "a.py"},
    {"  // filename: src/a b.js \nx", "src/a b.js"},
    {"/* filename: a.css */\nx", "a.css"},
    {"<!-- filename: a.html -->\n", "a.html"},
    {"# filename: ..a", "..a"},
    {"# filename: ./a.py", "a.py"},

    {"", NULL},
    {"# Compute the sum\n", NULL},
    {"\n# filename: a.py\n", NULL},
    {"/* filename: a.css\n*/", NULL},
    {"/*/", NULL},
    {"x # filename: a.py\n", NULL},
};

static const char *const outside[] = {
    "# filename: ../x",
    "# filename: a/../../x",
    "# filename: /etc/x",
    "# filename: ..",
    "# filename: a/",
    "# filename: ",
    ("# filename: a\x1b"
     "b"),
    "# filename: a//b",
};

static void test_a_file_name_is_read_from_the_first_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
        struct error err = ERROR_INIT;
        AUTO_FREE char *name = NULL;

        assert_int_equal(block_file_name_read(named[i].code, false, &name, &err), 0);
        if (named[i].name)
            assert_string_equal(name, named[i].name);
        else
            assert_null(name);
    }
}

static void test_a_name_outside_of_the_directory_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
        struct error err = ERROR_INIT;
        AUTO_FREE char *name = NULL;

        assert_int_equal(block_file_name_read(outside[i], false, &name, &err), -1);
        assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
        assert_null(name);
    }
}

static void test_any_comment_is_a_name_in_the_loose_form(void **state)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *name = NULL;
    AUTO_FREE char *none = NULL;

    (void)state;
    assert_int_equal(block_file_name_read("# a.py\nx", true, &name, &err), 0);
    assert_string_equal(name, "a.py");
    assert_int_equal(block_file_name_read("#\nx", true, &none, &err), 0);
    assert_null(none);
    assert_int_equal(block_file_name_read("/*/\nx", true, &none, &err), 0);
    assert_null(none);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_name_is_read_from_the_first_line),
        cmocka_unit_test(test_a_name_outside_of_the_directory_is_refused),
        cmocka_unit_test(test_any_comment_is_a_name_in_the_loose_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
