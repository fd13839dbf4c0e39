#include "server/tools/code/script_block.h"

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
    const char *definition; /* NULL: the block is refused ... */
    const char *error;      /* ... with this */
} cases[] = {
    {"# /// script\n# dependencies = [\"a<3\", \"b\"]\n# ///\nprint(1)",
     "{\"type\":\"venv\",\"pip_packages\":[\"a<3\",\"b\"]}", NULL},
    {"#!/usr/bin/env python\r\n# /// script\r\n# requires-python = '>=3.11'\r\n#\r\n"
     "# dependencies = [\r\n#   'a',\r\n# ]\r\n# ///\r\n",
     "{\"type\":\"venv\",\"pip_packages\":[\"a\"],\"python_version\":\">=3.11\"}", NULL},
    {"x = 1\n# /// script\n# dependencies = ['a']\n# [tool.x]\n# y = 1\n# ///",
     "{\"type\":\"venv\",\"pip_packages\":[\"a\"]}", NULL},
    {"# /// script\n# requires-python = '>=3.11'\n# ///\n",
     "{\"type\":\"venv\",\"python_version\":\">=3.11\"}", NULL},
    {"# /// script\n# dependencies = ['a']\n# ///\n# ///\nprint(1)", NULL,
     "the script's block (# /// script): line 2: a key is missing"},
    {"# /// script\n# a = 'b'\n# ///\n# /// script\n# a = 'b'\n# ///\n", NULL,
     "the script's block (# /// script): line 2: a key is missing"},

    {"print(1)", "", NULL},
    {"# /// script\n# ///\n", "", NULL},
    {"# /// script\n# dependencies = []\n# ///\n", "", NULL},
    {"# /// script\n# dependencies = ['a']\nprint(1)\n# ///\n", "", NULL},
    {"# /// script\n# dependencies = ['a']\n", "", NULL},
    {"# /// script\n#dependencies = ['a']\n# ///\n", "", NULL},
    {"# /// other\n# dependencies = ['a']\n# ///\n", "", NULL},
    {" # /// script\n# dependencies = ['a']\n# ///\n", "", NULL},

    /* Only shown: */
    {"t = '''\n# /// script\n# dependencies = ['a']\n# ///\n'''", "", NULL},
    {"open('f', 'w').write(rb\"\"\"# x\n# /// script\n# dependencies = ['a']\n# ///\n\"\"\")", "",
     NULL},
    {"# don't\nx = f'''{y}'''; t = '''\n# /// script\n# a = [\n# ///\n'''\n"
     "# /// script\n# dependencies = ['b']\n# ///\n",
     "{\"type\":\"venv\",\"pip_packages\":[\"b\"]}", NULL},
    /* No strings: */
    {"# it's '''\nx = (1,\n# /// script\n# dependencies = ['a']\n# ///\n)",
     "{\"type\":\"venv\",\"pip_packages\":[\"a\"]}", NULL},
    {"x = 'not closed\n# /// script\n# dependencies = ['a']\n# ///\n",
     "{\"type\":\"venv\",\"pip_packages\":[\"a\"]}", NULL},
    {"x = '''\n'''\n# /// script\n# dependencies = ['a']\n# ///\n'''not closed",
     "{\"type\":\"venv\",\"pip_packages\":[\"a\"]}", NULL},

    {"# /// script\n# dependencies = 'a'\n# ///\n", NULL,
     "the script's block (# /// script): dependencies must be an array of strings"},
    {"# /// script\n# dependencies = [1]\n# ///\n", NULL,
     "the script's block (# /// script): dependencies must be an array of strings"},
    {"# /// script\n# requires-python = 3.11\n# ///\n", NULL,
     "the script's block (# /// script): requires-python must be a string"},
    {"# /// script\n# dependencies = ['a'\n# ///\n", NULL,
     "the script's block (# /// script): line 2: an array is not closed, or a comma is missing in "
     "it"},
    {"# /// script\n# a = 'b'\n# ///\n\n# /// script\n# a = 'b'\n# ///\n", NULL,
     "the script's block (# /// script) is there twice"},
};

static void test_the_block_of_a_script_is_a_definition(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = ERROR_INIT;
        AUTO_JSON json_t *definition = NULL;
        int result = script_block_read(cases[i].code, strlen(cases[i].code), &definition, &err);

        if (cases[i].definition) {
            AUTO_FREE char *text = definition ? json_text(definition) : memory_copy_string("");

            assert_int_equal(result, 0);
            assert_string_equal(text, cases[i].definition);
        } else {
            assert_int_equal(result, -1);
            assert_string_equal(err.message, cases[i].error);
        }
    }
}

/* Each line begins what could be a block. */
static void test_many_beginnings_take_no_time(void **state)
{
    enum { LINES = 80000 };
    static const char line[] = "# /// script\n";
    AUTO_FREE char *code = memory_new(LINES, sizeof line);
    AUTO_JSON json_t *definition = NULL;
    struct error err = ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < LINES; i++)
        memcpy(code + i * (sizeof line - 1), line, sizeof line);
    assert_int_equal(script_block_read(code, strlen(code), &definition, &err), 0);
    assert_null(definition);
}

/* A string is looked at once, however many lines of it could begin a block. */
static void test_many_shown_beginnings_take_no_time(void **state)
{
    enum { LINES = 80000 };
    static const char line[] = "# /// script\n";
    AUTO_FREE char *code = memory_new(LINES + 1, sizeof line);
    AUTO_JSON json_t *definition = NULL;
    struct error err = ERROR_INIT;
    char *end = stpcpy(code, "'''\n");

    (void)state;
    for (size_t i = 0; i < LINES; i++)
        end = stpcpy(end, line);
    strcpy(end, "'''");
    assert_int_equal(script_block_read(code, strlen(code), &definition, &err), 0);
    assert_null(definition);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_block_of_a_script_is_a_definition),
        cmocka_unit_test(test_many_beginnings_take_no_time),
        cmocka_unit_test(test_many_shown_beginnings_take_no_time),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
