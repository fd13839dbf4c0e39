#include "base/utf8.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define BAD "\xEF\xBF\xBD" /* U+FFFD */

struct repair {
    const char *bytes;
    size_t length;
    const char *repaired;
};

#define REPAIR(BYTES, REPAIRED)                                                                    \
    {                                                                                              \
        (BYTES), sizeof(BYTES) - 1, (REPAIRED)                                                     \
    }

static const struct repair repairs[] = {
    REPAIR("", ""),
    REPAIR("plain", "plain"),
    REPAIR("\xC2\x80\xDF\xBF", "\xC2\x80\xDF\xBF"),
    REPAIR("\xE0\xA0\x80\xEF\xBF\xBF", "\xE0\xA0\x80\xEF\xBF\xBF"),
    REPAIR("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"),
    REPAIR("\xED\x9F\xBF\xEE\x80\x80", "\xED\x9F\xBF\xEE\x80\x80"),
    /* Unicode 15, table 3-8: non-shortest forms */
    REPAIR("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", BAD BAD BAD BAD BAD BAD BAD BAD "A"),
    /* table 3-9: surrogates */
    REPAIR("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", BAD BAD BAD BAD BAD BAD BAD BAD "A"),
    /* table 3-10: other ill-formed sequences */
    REPAIR("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", BAD BAD BAD BAD BAD "A" BAD BAD "B"),
    /* table 3-11: truncated sequences */
    REPAIR("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", BAD BAD BAD BAD "A"),
    REPAIR("\xC1\x80", BAD BAD),
    REPAIR("\xF5\x80\x80\x80", BAD BAD BAD BAD),
    REPAIR("\xFE\xFF", BAD BAD),
    REPAIR("\x80", BAD),
    REPAIR("a\xE2\x82", "a" BAD),
    REPAIR("\xE2\x82\xC3\xA4", BAD "\xC3\xA4"),
    REPAIR("\xF0\x9F\x90\x8D\xF0\x9F\x90", "\xF0\x9F\x90\x8D" BAD),
};

enum { REPAIR_COUNT = ARRAY_SIZE(repairs) };

static void test_each_maximal_ill_formed_part_becomes_one_replacement(void **state)
{
    (void)state;
    for (size_t i = 0; i < REPAIR_COUNT; i++) {
        size_t length;
        AUTO_FREE char *repaired = utf8_repair(repairs[i].bytes, repairs[i].length, &length);

        assert_string_equal(repaired, repairs[i].repaired);
        assert_int_equal(length, strlen(repairs[i].repaired));
        assert_true(utf8_is_valid(repaired, length));
    }
}

static void test_only_what_needs_no_repair_is_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < REPAIR_COUNT; i++)
        assert_int_equal(utf8_is_valid(repairs[i].bytes, repairs[i].length),
                         strcmp(repairs[i].bytes, repairs[i].repaired) == 0);
}

static void test_nul_bytes_are_kept(void **state)
{
    size_t length;
    AUTO_FREE char *repaired = utf8_repair("a\0\xFF\0", 4, &length);

    (void)state;
    assert_int_equal(length, 6);
    assert_memory_equal(repaired, "a\0" BAD "\0", 7);
}

static void test_every_scalar_value_is_one_sequence_and_nothing_else_is(void **state)
{
    (void)state;
    for (unsigned value = 0; value < 0x200000; value++) {
        bool scalar = value < 0x110000 && (value < 0xD800 || value > 0xDFFF);
        size_t skip = 0;
        char text[4];
        size_t length = 1;

        text[0] = (char)value;
        if (value >= 0x10000) {
            length = 4;
            text[0] = (char)(0xF0 | value >> 18);
        } else if (value >= 0x800) {
            length = 3;
            text[0] = (char)(0xE0 | value >> 12);
        } else if (value >= 0x80) {
            length = 2;
            text[0] = (char)(0xC0 | value >> 6);
        }
        for (size_t i = 1; i < length; i++)
            text[i] = (char)(0x80 | (value >> 6 * (length - 1 - i) & 0x3F));
        if (utf8_sequence(text, length, &skip) != (scalar ? length : 0))
            fail_msg("U+%04X", value);
        if (!scalar && skip == 0)
            fail_msg("U+%04X is not skipped", value);
    }
}

static void test_a_boundary_does_not_split_a_sequence(void **state)
{
    static const struct {
        const char *text;
        size_t boundaries[8]; /* of the first 0, 1, 2 ... bytes */
    } cases[] = {
        {"abc", {0, 1, 2, 3}},
        {"a\xC3\xA4z", {0, 1, 1, 3, 4}},
        {"\xE2\x82\xAC!", {0, 0, 0, 3, 4}},
        {"\xF0\x9F\x90\x8D", {0, 0, 0, 0, 4}},
        {"\xF0\x9F\x90x", {0, 0, 0, 0, 4}}, /* the fourth byte shows that it ends early */
        {"\xF0\x80\x80", {0, 0, 2, 3}},     /* cannot become one: F0 80 */
        {"\xFF\xFE\x80", {0, 1, 2, 3}},     /* no beginning at all */
        {"\x80\x80\x80\x80\x80", {0, 1, 2, 3, 4, 5}},
        {"\xE2\x82\xAC\x80", {0, 0, 0, 3, 4}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t length = 0; length <= strlen(cases[i].text); length++) {
            size_t boundary = utf8_boundary_before(cases[i].text, length);

            assert_int_equal(boundary, cases[i].boundaries[length]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_maximal_ill_formed_part_becomes_one_replacement),
        cmocka_unit_test(test_only_what_needs_no_repair_is_valid),
        cmocka_unit_test(test_nul_bytes_are_kept),
        cmocka_unit_test(test_every_scalar_value_is_one_sequence_and_nothing_else_is),
        cmocka_unit_test(test_a_boundary_does_not_split_a_sequence),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
