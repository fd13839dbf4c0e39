#include "base/quantity.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static void test_bytes_use_the_largest_unit(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 bytes"},        {1, "1 byte"},         {1023, "1023 bytes"},
        {1024, "1 KiB"},       {1536, "1.5 KiB"},     {512ull << 20, "512 MiB"},
        {1ull << 30, "1 GiB"}, {3ull << 40, "3 TiB"}, {UINT64_MAX, "16777216.0 TiB"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *text = quantity_bytes(cases[i].bytes);

        assert_string_equal(text, cases[i].text);
    }
}

static void test_seconds_have_no_needless_digits(void **state)
{
    AUTO_FREE char *one = quantity_seconds(1);
    AUTO_FREE char *many = quantity_seconds(600);
    AUTO_FREE char *fraction = quantity_seconds(0.25);

    (void)state;
    assert_string_equal(one, "1 second");
    assert_string_equal(many, "600 seconds");
    assert_string_equal(fraction, "0.25 seconds");
}

static void test_sizes_are_read_with_their_units(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"0", 0},
        {"900", 900},
        {"7B", 7},
        {"1KB", 1000},
        {"2 MB", 2000000},
        {"1TB", 1000000000000},
        {"512MiB", 512u << 20},
        {"1 GiB", 1u << 30},
        {"9223372036854775807", INT64_MAX},
    };
    static const char *const refused[] = {
        "",
        "MiB",
        "1  MiB",
        "1mib",
        "1 M",
        "-1",
        "1.5GiB",
        " 1",
        "9223372036854775808",
        "99999999999999999999",
        "99999999TiB",
    };
    uint64_t bytes;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        assert_true(quantity_read_bytes(cases[i].text, &bytes));
        assert_int_equal(bytes, cases[i].bytes);
    }
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
        if (quantity_read_bytes(refused[i], &bytes))
            fail_msg("%s is read", refused[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_use_the_largest_unit),
        cmocka_unit_test(test_seconds_have_no_needless_digits),
        cmocka_unit_test(test_sizes_are_read_with_their_units),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
