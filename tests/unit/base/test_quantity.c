#include "base/quantity.h"

#include "base/cleanup.h"

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
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_use_the_largest_unit),
        cmocka_unit_test(test_seconds_have_no_needless_digits),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
