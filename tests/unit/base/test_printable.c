#include "base/printable.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static void test_what_a_terminal_would_obey_is_replaced(void **state)
{
    static const struct {
        const char *dirty;
        const char *clean;
    } cases[] = {
        {"", ""},
        {"plain, na\xC3\xAFve, \xE6\x97\xA5", "plain, na\xC3\xAFve, \xE6\x97\xA5"},
        {"\x1B[31mred\x1B]0;title\a", "?[31mred?]0;title?"},
        {"a\tb\rc\nd\x7F", "a?b?c?d?"},
        {"\xC2\x9B"
         "31m\xC2\x80\xC2\xA0",
         "??31m??\xC2\xA0"}, /* U+00A0 is a blank */
        {"\x9B"
         "31m",
         "?31m"},
        {"\xE6\x97", "??"},
        {"\xE6\x97x\xFF", "??x?"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[64];

        snprintf(text, sizeof text, "%s", cases[i].dirty);
        printable_clean(text);
        assert_string_equal(text, cases[i].clean);
    }
}

static void test_lines_stay_lines(void **state)
{
    char text[] = "one\n\ttwo\r\x1B[2J\xC2\x85 three\n";

    (void)state;
    printable_clean_lines(text);
    assert_string_equal(text, "one\n\ttwo??[2J?? three\n");
}

static void test_what_fits_ends_between_characters(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
        size_t bytes;
        size_t used;
    } cases[] = {
        {"", 5, 0, 0},
        {"abc", 0, 0, 0},
        {"abc", 2, 2, 2},
        {"abc", 9, 3, 3},
        {"\xC3\xAF\xC3\xAF", 1, 2, 1},
        {"\xE6\x97\xA5\xE6\x97\xA5", 3, 3, 2},
        {"\xF0\x9F\x90\x8D"
         "a",
         3, 5, 3},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t used;

        assert_int_equal(printable_fit(cases[i].text, cases[i].columns, &used), cases[i].bytes);
        assert_int_equal(used, cases[i].used);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_terminal_would_obey_is_replaced),
        cmocka_unit_test(test_lines_stay_lines),
        cmocka_unit_test(test_what_fits_ends_between_characters),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
