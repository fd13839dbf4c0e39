#include "base/visible.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void what_cannot_be_seen_is_named(void **state)
{
    static const struct {
        const char *text;
        const char *shown;
    } cases[] = {
        {"", ""},
        {"plain, na\xC3\xAFve, \xE6\x97\xA5, \xF0\x9F\x90\x8D",
         "plain, na\xC3\xAFve, \xE6\x97\xA5, \xF0\x9F\x90\x8D"},
        {"a\nb\tc\x1B[2J\x7F", "a<U+000A>b<U+0009>c<U+001B>[2J<U+007F>"},
        {"\xC2\x85\xC2\xA0\xC2\xAD", "<U+0085>\xC2\xA0<U+00AD>"},
        {"\xE2\x80\xAE"
         "abc\xE2\x81\xA6",
         "<U+202E>abc<U+2066>"},
        {"\xE2\x80\x8B\xEF\xBB\xBF\xE2\x80\xA8\xE3\x85\xA4", "<U+200B><U+FEFF><U+2028><U+3164>"},
        {"\xF3\xA0\x81\x81", "<U+E0041>"}, /* a letter of a tag */
        {"\xFF\xE6\x97", "<FF><E6><97>"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *shown = visible_line(cases[i].text, strlen(cases[i].text), 100);

        assert_string_equal(shown, cases[i].shown);
    }
}

static void a_nul_is_named(void **state)
{
    AUTO_FREE char *shown = visible_line("a\0b", 3, 100);

    (void)state;
    assert_string_equal(shown, "a<U+0000>b");
}

static void what_is_too_long_says_how_long_it_is(void **state)
{
    AUTO_FREE char *cut = visible_line("na\xC3\xAFve", 6, 3);
    AUTO_FREE char *whole = visible_line("naive", 5, 5);

    (void)state;
    assert_string_equal(cut, "na... (6 bytes in all)");
    assert_string_equal(whole, "naive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_seen_is_named),
        cmocka_unit_test(a_nul_is_named),
        cmocka_unit_test(what_is_too_long_says_how_long_it_is),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
