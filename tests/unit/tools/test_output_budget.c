#include "server/tools/answer/output_budget.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_a_stream_gets_half_and_what_the_other_does_not_need(void **state)
{
    static const struct {
        size_t characters[OUTPUT_PARTS];
        size_t shares[OUTPUT_PARTS];
    } cases[] = {
        {{0, 0}, {100, 100}},     {{1000, 0}, {100, 50}}, {{1000, 10}, {90, 50}},
        {{1000, 1000}, {50, 50}}, {{20, 1000}, {50, 80}}, {{50, 50}, {50, 50}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t shares[OUTPUT_PARTS];

        output_budget_share(100, cases[i].characters, shares);
        assert_int_equal(shares[OUTPUT_OUT], cases[i].shares[OUTPUT_OUT]);
        assert_int_equal(shares[OUTPUT_ERR], cases[i].shares[OUTPUT_ERR]);
    }
}

static void test_beginning_and_end_are_whole_lines_where_that_can_be(void **state)
{
    static const struct {
        enum output_part part;
        size_t share;
        const char *text;
        const char *cut; /* NULL: as it is */
    } cases[] = {
        {OUTPUT_OUT, 12, "1234\n6789\n", NULL},
        {OUTPUT_OUT, 0, "", NULL},
        {OUTPUT_OUT, 14, "aaa\nbbb\nccc\nddd\neee\nfff\n", "aaa\n" OUTPUT_BUDGET_GAP "fff\n"},
        {OUTPUT_OUT, 16, "aaa\nbbb\nccc\nddd\neee\nfff\n",
         "aaa\nbbb\n" OUTPUT_BUDGET_GAP "eee\nfff\n"},
        {OUTPUT_ERR, 16, "aaa\nbbb\nccc\nddd\neee\nfff\n",
         "aaa\n" OUTPUT_BUDGET_GAP "ddd\neee\nfff\n"},
        {OUTPUT_OUT, 8, "aaaaaaaaaaaaaaaaaaaab", "aaaa\n" OUTPUT_BUDGET_GAP "aaab"},
        {OUTPUT_OUT, 12, "x\naaaaaaaaaaaaaaaaaay\nz\n", "x\naaaa\n" OUTPUT_BUDGET_GAP "aay\nz\n"},
        {OUTPUT_OUT, 4, "\xE6\x97\xA5\xE6\x97\xA5\xE6\x97\xA5\xE6\x97\xA5", NULL},
        {OUTPUT_OUT, 2, "\xE6\x97\xA5\xE6\x97\xA5\xE6\x97\xA5\xE6\x9C\xAC",
         "\xE6\x97\xA5\n" OUTPUT_BUDGET_GAP "\xE6\x9C\xAC"},
        {OUTPUT_OUT, 0, "abc", OUTPUT_BUDGET_GAP},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t length = 0;
        AUTO_FREE char *cut = output_budget_cut(cases[i].part, cases[i].text, strlen(cases[i].text),
                                                cases[i].share, &length);

        if (!cases[i].cut) {
            assert_null(cut);
            continue;
        }
        assert_string_equal(cut, cases[i].cut);
        assert_int_equal(length, strlen(cut));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stream_gets_half_and_what_the_other_does_not_need),
        cmocka_unit_test(test_beginning_and_end_are_whole_lines_where_that_can_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
