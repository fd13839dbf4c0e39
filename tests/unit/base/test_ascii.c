#include "base/ascii.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* What a digit is worth, for every byte there is. */
static int value_of(int byte)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";

    for (int i = 0; i < 32; i++)
        if (digits[i] == byte)
            return i % 16;
    return -1;
}

static void test_every_byte_has_the_value_of_its_digit_or_none(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        assert_int_equal(ascii_hex_value((char)byte), value_of(byte));
        assert_int_equal(ascii_is_digit((char)byte), byte >= '0' && byte <= '9');
        assert_int_equal(ascii_is_blank((char)byte), byte == ' ' || byte == 9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_byte_has_the_value_of_its_digit_or_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
