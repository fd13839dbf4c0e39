#include "server/tools/code/main_call.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_a_main_is_a_name_of_the_code(void **state)
{
    static const char *const with[] = {"def main(n): pass", "x = 1\nmain = print",
                                       "from a import main"};
    static const char *const without[] = {"", "print(1)", "# main", "x = 'main'", "domain = 1"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(with); i++)
        assert_true(main_call_is_possible(with[i], strlen(with[i])));
    for (size_t i = 0; i < ARRAY_SIZE(without); i++)
        assert_false(main_call_is_possible(without[i], strlen(without[i])));
}

static void test_the_call_stands_behind_the_code(void **state)
{
    static const char code[] = "def main(n):\n    return n";
    size_t length;
    AUTO_FREE char *whole = main_call_append(code, strlen(code), "1", 1, &length);

    (void)state;
    assert_int_equal(length, strlen(whole));
    assert_int_equal(strncmp(whole, code, strlen(code)), 0);
    assert_non_null(strstr(whole, "return n\n\nimport json as _json\n"));
}

/* An input cannot end the string that it is in, and does not depend on the encoding of the code. */
static void test_an_input_is_a_string_in_ascii(void **state)
{
    static const char input[] = "{\"a\": \"\xc3\xbc \\\" \xf0\x9f\x98\x80\"}";
    size_t length;
    AUTO_FREE char *whole = main_call_append("main", 4, input, strlen(input), &length);

    (void)state;
    assert_non_null(strstr(whole, "loads(\"\\\"{\\\\\\\"a\\\\\\\": "));
    assert_non_null(strstr(whole, "\\\\u00FC"));
    assert_non_null(strstr(whole, "\\\\uD83D\\\\uDE00"));
    for (size_t i = 0; i < length; i++)
        assert_in_range(whole[i], '\n', '~');
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_main_is_a_name_of_the_code),
        cmocka_unit_test(test_the_call_stands_behind_the_code),
        cmocka_unit_test(test_an_input_is_a_string_in_ascii),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
