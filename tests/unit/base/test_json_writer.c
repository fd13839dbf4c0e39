#include "base/json_writer.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char *const texts[] = {
    "{}",
    "[]",
    "\"\"",
    "true",
    "null",
    "-0.0",
    "[0, -1, 9223372036854775807, 1.5, 0.1, 1e308, -2.5e-7, 100000.0, 1.25e17]",
    "{\"a\": [{}, [], [[1]], {\"b\": {\"c\": false}}], \"\": 1, \"q\\\"\\n\": 2}",
    "\"\\u0000\\u0001\\u001f\\u007f\\b\\f\\n\\r\\t\\/\\\\\\\"'<>&\"",
    "\"\\u00e4\\u6f22\\ud83d\\ude00 plain \\u2028\"",
};

static void test_the_text_is_that_of_jansson(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        AUTO_JSON json_t *value = json_loads(texts[i], JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        AUTO_FREE char *expected =
            json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        AUTO_FREE char *text = json_text(value);

        assert_non_null(value);
        assert_string_equal(text, expected);
        assert_int_equal(json_writer_write(value, NULL), strlen(expected));
    }
}

static void test_a_number_is_read_back_as_it_was(void **state)
{
    static const char *const numbers[] = {
        "[0.1,0.30000000000000004,1e300,1.7976931348623157e308,-2.2250738585072014e-308]",
        "[123456789.12345679,1.234,100.0,9007199254740993,-9223372036854775808]",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        AUTO_JSON json_t *value = json_loads(numbers[i], 0, NULL);
        AUTO_FREE char *text = json_text(value);

        assert_string_equal(text, numbers[i]);
    }
}

static void test_what_is_not_there_is_null(void **state)
{
    AUTO_FREE char *text = json_text_within("<", NULL, ">");

    (void)state;
    assert_string_equal(text, "<null>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_text_is_that_of_jansson),
        cmocka_unit_test(test_a_number_is_read_back_as_it_was),
        cmocka_unit_test(test_what_is_not_there_is_null),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
