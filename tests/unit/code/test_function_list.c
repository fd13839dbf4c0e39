#include "server/tools/code/function_list.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *code;
    const char *list;
} cases[] = {
    {"", ""},
    {"x = 1\nclass A:\n    def f(self):\n        pass\n", ""},
    {"def f(a: int, b=':') -> str:\n    return b\n", "f(a: int, b=':') -> str"},
    {"async def f(): return 1", "f()"},
    {"def f():\n    '''\n    What it \"does\".\n\n    More.\n    '''\n", "f(): What it \"does\"."},
    {"def f():\n    r'It''s'\n", "f(): It"},
    {"def f():\n    x = 'no'\n    'neither'\n", "f()"},
    {"def f(\n    a,\n    b={'c': 1},\n):\n    'Many lines.'\n",
     "f( a, b={'c': 1}, ): Many lines."},
    {"@cache\ndef f(): ...\ndef _hidden(): ...\ndef g(): ...\n", "f()\ng()"},
    {"def f(): pass\n'no docstring'\n", "f()"},
    {"def", ""},
    {"def (", ""},
    {"def f", ""},
    {"def f():\n    '''", "f()"},
    {"async", ""},
};

static void test_functions_and_what_is_said_of_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *list = function_list(cases[i].code, strlen(cases[i].code));

        assert_string_equal(list, cases[i].list);
    }
}

static void test_few_of_many(void **state)
{
    struct buffer code;
    AUTO_FREE char *list = NULL;
    unsigned count = 1;

    (void)state;
    buffer_init(&code, 1 << 20);
    for (int i = 0; i < 30; i++)
        buffer_print(&code, "def f%d(%0900d):\n    '%0900d'\n", i, i, i);
    list = function_list(buffer_bytes(&code), buffer_length(&code));
    for (const char *line = list; (line = strchr(line, '\n')); line++)
        count++;
    assert_int_equal(count, 25);
    assert_non_null(strstr(list, "\nand 6 more"));
    assert_true(strlen(list) < 11000);
    buffer_deinit(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_and_what_is_said_of_them),
        cmocka_unit_test(test_few_of_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
