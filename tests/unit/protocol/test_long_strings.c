#include "base/protocol/long_strings.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/protocol/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TIMES_16(TEXT)                                                                             \
    TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT
#define LONG TIMES_16("0123456789abcdef")

/* Each is read as by the parser alone, or refused as by it. */
static const char *const messages[] = {
    "\"" LONG "\"",
    "[\"" LONG "\",\"short\",\"" LONG "x\",1,{\"" LONG "\":\"" LONG "\"}]",
    "{\"a\":{\"b\":[[],{},\"" LONG "1\"]},\"c\":\"" LONG "2\",\"d\":[true,null,\"" LONG "3\"]}",
    "[\"" LONG "\\n\\t\\r\\b\\f\\/\\\\\\\"\"]",
    "[\"\\u0041\\u00e4\\u6F22\\uD83D\\uDE00\\u0000" LONG "\", \"end\"]",
    "[\"\\uD8C0\\uDC00\\uDBFF\\uDFFF" LONG "\"]",
    "[\"\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80" LONG "\"]",
    "[\"" LONG "\\ud83d\"]",
    "[\"" LONG "\\ud83dx\"]",
    "[\"" LONG "\\ude00\"]",
    "[\"" LONG "\\ud83d\\u0041\"]",
    "[\"" LONG "\\u00g0\"]",
    "[\"" LONG "\\u00\"]",
    "[\"" LONG "\\x\"]",
    "[\"" LONG "\xFF\"]",
    "[\"" LONG "\xED\xA0\x80\"]",
    "[\"" LONG "\n\"]",
    "[\"" LONG "\x7F\"]",
    "[\"" LONG "\\",
    "[\"" LONG,
    "[\"" LONG "\"",
    "[\"" LONG "\" 1]",
    "[\"" LONG "\", \"" LONG "\\q\", \"" LONG "\"]",
};

static void test_messages_are_read_as_by_the_parser_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
        const size_t length = strlen(messages[i]);
        AUTO_FREE char *text = memory_copy_string(messages[i]);
        AUTO_JSON json_t *expected =
            json_loadb(messages[i], length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        AUTO(scan_deinit) struct scan scan = {0};
        struct error err = ERROR_INIT;
        AUTO_JSON json_t *value = message_parse(text, length, &scan, &err);

        assert_int_equal(value != NULL, expected != NULL);
        assert_true(!value || json_equal(value, expected));
        assert_int_equal(err.code, expected ? ERROR_NONE : ERROR_PARSE);
    }
}

static void test_what_is_left_is_short_and_the_rest_is_blank(void **state)
{
    char text[] = "[\"" LONG "\",\"" LONG "\\x\"] ";
    const size_t length = strlen(text);
    AUTO(long_strings_deinit) struct long_strings strings = {0};
    AUTO(scan_deinit) struct scan scan = {0};
    struct error err = ERROR_INIT;
    size_t left;

    (void)state;
    assert_int_equal(scan_text(&scan, text, length, &err), 0);
    left = long_strings_take(&strings, &scan, text, length);
    assert_int_equal(strings.count, 1);
    assert_int_equal(left, length - strlen(LONG));
    assert_memory_equal(text, "[\"\",\"" LONG "\\x\"] ", left);
    assert_int_equal(strspn(text + left, " "), length - left);
}

/* What the parser is given is bounded, what it is not given is not. */
static void test_a_message_has_a_megabyte_besides_its_long_strings(void **state)
{
    const size_t length = 2 * (size_t)MESSAGE_REST_BYTES;
    AUTO_FREE char *text = memory_new(length + 1, 1);
    AUTO(scan_deinit) struct scan scan = {0};
    AUTO(scan_deinit) struct scan other = {0};
    struct error err = ERROR_INIT;
    AUTO_JSON json_t *value = NULL;

    (void)state;
    memset(text, 'x', length);
    text[0] = text[length - 1] = '"';
    value = message_parse(text, length, &scan, &err);
    assert_int_equal(json_string_length(value), length - 2);
    memset(text, ' ', length);
    text[0] = '1';
    assert_null(message_parse(text, length, &other, &err));
    assert_int_equal(err.code, ERROR_INVALID_REQUEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_are_read_as_by_the_parser_alone),
        cmocka_unit_test(test_what_is_left_is_short_and_the_rest_is_blank),
        cmocka_unit_test(test_a_message_has_a_megabyte_besides_its_long_strings),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
