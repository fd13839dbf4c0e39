#include "base/protocol/header_value.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void what_is_encoded_is_decoded_and_all_else_is_as_it_is(void **state)
{
    static const struct {
        const char *value;
        const char *decoded; /* or NULL */
    } CASES[] = {
        {"", ""},
        {"plain text", "plain text"},
        {"=?base64?SGVsbG8=?=", "Hello"},
        {"=?base64?w6Q=?=", "\xc3\xa4"},
        {"=?base64?"
         "?=",
         ""},
        {"=?base64?SGVsbG8?=", NULL},               /* not padded */
        {"=?base64?SGVs!G8=?=", NULL},              /* another alphabet */
        {"=?base64?SGVsbG9=?=", NULL},              /* bits that are not there */
        {"=?base64?_-8=?=", NULL},                  /* base64url */
        {"=?base64?/w==?=", NULL},                  /* not UTF-8 */
        {"=?base64?=", "=?base64?="},               /* the ends overlap */
        {"SGVsbG8=?=", "SGVsbG8=?="},               /* no prefix */
        {"=?base64?SGVsbG8=", "=?base64?SGVsbG8="}, /* no suffix */
        {"=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        size_t length = 0;
        AUTO_FREE char *decoded = header_value_decode(CASES[i].value, &length);

        if (!CASES[i].decoded) {
            assert_null(decoded);
            continue;
        }
        assert_string_equal(decoded, CASES[i].decoded);
        assert_int_equal(length, strlen(CASES[i].decoded));
    }
}

static void a_value_is_compared_by_its_type(void **state)
{
    static const struct {
        const char *value;
        const char *expected; /* JSON */
        bool fits;
    } CASES[] = {
        {"a", "\"a\"", true},
        {"A", "\"a\"", false},
        {"", "\"\"", true},
        {"=?base64?"
         "?=",
         "\"\"", true},
        {"=?base64?YQ==?=", "\"a\"", true},
        {"=?base64?YQ==?=", "\"=?base64?YQ==?=\"", false},
        {"=?base64?AA==?=", "\"\\u0000\"", true},
        {"", "\"\\u0000\"", false},
        {"=?base64?YQ?=", "\"=?base64?YQ?=\"", false},
        {"true", "true", true},
        {"false", "false", true},
        {"True", "true", false},
        {"1", "true", false},
        {"42", "42", true},
        {"42.0", "42", true},
        {"42", "42.0", true},
        {"-42", "-42", true},
        {"=?base64?NDI=?=", "42", true},
        {"43", "42", false},
        {"42.5", "42", false},
        {"042", "42", false},
        {"+42", "42", false},
        {"4.2e1", "42", false},
        {"0x2a", "42", false},
        {"42.", "42", false},
        {"", "0", false},
        {"-", "0", false},
        {"nan", "0", false},
        {"9007199254740993", "9007199254740993", true},
        {"9007199254740992", "9007199254740993", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        AUTO_JSON json_t *expected =
            json_loads(CASES[i].expected, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

        assert_non_null(expected);
        if (header_value_is(CASES[i].value, expected) != CASES[i].fits)
            fail_msg("%s for %s", CASES[i].value, CASES[i].expected);
    }
}

static void what_a_field_cannot_carry_is_encoded(void **state)
{
    static const struct {
        const char *text;
        const char *value;
    } CASES[] = {
        {"", ""},
        {"us west 1", "us west 1"},
        {" padded ", "=?base64?IHBhZGRlZCA=?="},
        {"a\r\nb", "=?base64?YQ0KYg==?="},
        {"\xc3\xa4", "=?base64?w6Q=?="},
        {"=?base64?w6Q=?=", "=?base64?PT9iYXNlNjQ/dzZRPT89?="},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        AUTO_FREE char *value = header_value_encode(CASES[i].text, strlen(CASES[i].text));
        size_t length;
        AUTO_FREE char *decoded = header_value_decode(value, &length);

        assert_string_equal(value, CASES[i].value);
        assert_string_equal(decoded, CASES[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_encoded_is_decoded_and_all_else_is_as_it_is),
        cmocka_unit_test(a_value_is_compared_by_its_type),
        cmocka_unit_test(what_a_field_cannot_carry_is_encoded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
