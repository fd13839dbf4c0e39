#include "base/error.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_setting_returns_minus_one_and_keeps_code_and_message(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(error_set(&err, ERROR_BUSY, "%d runs are waiting", 7), -1);
    assert_int_equal(err.code, ERROR_BUSY);
    assert_int_equal(err.number, 0);
    assert_string_equal(err.message, "7 runs are waiting");
}

static void test_errno_is_kept_and_spelled_out(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(error_set_errno(&err, ENOENT, "cannot open %s", "/x"), -1);
    assert_int_equal(err.code, ERROR_SYSTEM);
    assert_int_equal(err.number, ENOENT);
    assert_string_equal(err.message, "cannot open /x: No such file or directory");
}

static void test_a_prefix_goes_before_the_message(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    error_set(&err, ERROR_CONFIG, "bad value");
    assert_int_equal(error_prefix(&err, "line %d", 3), -1);
    assert_int_equal(err.code, ERROR_CONFIG);
    assert_string_equal(err.message, "line 3: bad value");
}

static void test_long_messages_are_cut_not_overrun(void **state)
{
    struct error_rest rest;
    struct error err = ERROR_INIT;
    struct error longer = ERROR_INIT_LONG(&rest);
    AUTO_FREE char *whole = NULL;
    char text[2 * ERROR_FULL_BYTES];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    error_set_errno(&err, EIO, "%s", text);
    assert_int_equal(strlen(err.message), ERROR_MESSAGE_BYTES - 1);
    error_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.message), ERROR_MESSAGE_BYTES - 1);
    error_set(&longer, ERROR_BUSY, "%s", text);
    error_prefix(&longer, "%s", text);
    whole = error_text(&longer);
    assert_int_equal(strlen(whole), ERROR_FULL_BYTES - 2); /* each part has an end */
}

static void test_the_words_of_errno_are_not_cut(void **state)
{
    struct error err = ERROR_INIT;
    char text[2 * ERROR_MESSAGE_BYTES];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    error_set_errno(&err, ENOENT, "%s", text);
    assert_non_null(strstr(err.message, "x: No such file or directory"));
}

static void test_a_message_goes_on_where_there_is_room(void **state)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);
    AUTO_FREE char *expected = NULL;
    AUTO_FREE char *whole = NULL;
    char text[ERROR_MESSAGE_BYTES + 100];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    error_set(&err, ERROR_UNAVAILABLE, "%s", text);
    error_prefix(&err, "installing");
    expected = memory_format("installing: %s", text);
    whole = error_text(&err);
    assert_int_equal(strlen(err.message), ERROR_MESSAGE_BYTES - 1);
    assert_string_equal(whole, expected);
}

static void test_a_long_message_is_split_between_characters(void **state)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);
    AUTO_FREE char *whole = NULL;
    char text[2 * ERROR_FULL_BYTES];

    (void)state;
    memset(text, 0, sizeof text);
    for (size_t i = 0; i + 3 < sizeof text; i += 3)
        memcpy(text + i, "\xE2\x82\xAC", 3);
    error_set(&err, ERROR_UNAVAILABLE, "%s", text);
    whole = error_text(&err);
    assert_int_equal(strlen(err.message) % 3, 0);
    assert_int_equal(strlen(rest.text) % 3, 0);
    assert_true(strlen(whole) > ERROR_FULL_BYTES - 8);
}

static void test_a_copy_has_a_rest_of_its_own(void **state)
{
    struct error_rest rest;
    struct error_rest own;
    struct error err = ERROR_INIT_LONG(&rest);
    struct error copy = ERROR_INIT_LONG(&own);
    struct error cut = ERROR_INIT;
    AUTO_FREE char *whole = NULL;

    (void)state;
    error_set(&err, ERROR_LIMIT, "%0*d", ERROR_MESSAGE_BYTES + 10, 7);
    error_copy(&copy, &err);
    error_copy(&cut, &err);
    rest.text[0] = '\0';
    whole = error_text(&copy);
    assert_int_equal(copy.code, ERROR_LIMIT);
    assert_ptr_equal(copy.rest, &own);
    assert_int_equal(strlen(whole), ERROR_MESSAGE_BYTES + 10);
    assert_null(cut.rest);
    assert_int_equal(strlen(cut.message), ERROR_MESSAGE_BYTES - 1);
}

/* As an engine, a registry or an installer could say them. */
static void test_the_words_of_others_have_no_controls(void **state)
{
    struct error err = ERROR_INIT;
    struct error_rest rest;
    struct error copy = ERROR_INIT_LONG(&rest);

    (void)state;
    error_set(&err, ERROR_UNAVAILABLE, "the engine refused: %s", "\x1B[2J\x1B]0;x\a\n\tline\r");
    assert_string_equal(err.message, "the engine refused: ?[2J?]0;x?\n\tline?");
    error_prefix(&err, "%s", "a\x7F");
    error_copy(&copy, &err);
    assert_string_equal(copy.message, "a?: the engine refused: ?[2J?]0;x?\n\tline?");
}

static void test_one_that_is_cleared_can_be_set_again(void **state)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    (void)state;
    error_set_errno(&err, ENOENT, "%0*d", ERROR_MESSAGE_BYTES, 7);
    error_clear(&err);
    error_set(&err, ERROR_BUSY, "later");
    assert_int_equal(err.number, 0);
    assert_string_equal(err.message, "later");
    assert_string_equal(rest.text, "");
}

static void test_only_the_first_family_is_answered_as_a_protocol_error(void **state)
{
    static const struct {
        enum error_code code;
        bool protocol;
    } cases[] = {
        {ERROR_PARSE, true},
        {ERROR_INVALID_REQUEST, true},
        {ERROR_METHOD_NOT_FOUND, true},
        {ERROR_INVALID_PARAMS, true},
        {ERROR_MISSING_CAPABILITY, true},
        {ERROR_UNSUPPORTED_VERSION, true},
        {ERROR_INTERNAL, true},
        {ERROR_INVALID_ARGUMENTS, false},
        {ERROR_UNAVAILABLE, false},
        {ERROR_BUSY, false},
        {ERROR_LIMIT, false},
        {ERROR_TIMEOUT, false},
        {ERROR_SYSTEM, false},
        {ERROR_USAGE, false},
        {ERROR_CONFIG, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = {.code = cases[i].code};

        assert_int_equal(error_is_protocol(&err), cases[i].protocol);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_setting_returns_minus_one_and_keeps_code_and_message),
        cmocka_unit_test(test_errno_is_kept_and_spelled_out),
        cmocka_unit_test(test_a_prefix_goes_before_the_message),
        cmocka_unit_test(test_long_messages_are_cut_not_overrun),
        cmocka_unit_test(test_the_words_of_errno_are_not_cut),
        cmocka_unit_test(test_a_message_goes_on_where_there_is_room),
        cmocka_unit_test(test_a_long_message_is_split_between_characters),
        cmocka_unit_test(test_a_copy_has_a_rest_of_its_own),
        cmocka_unit_test(test_the_words_of_others_have_no_controls),
        cmocka_unit_test(test_one_that_is_cleared_can_be_set_again),
        cmocka_unit_test(test_only_the_first_family_is_answered_as_a_protocol_error),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
