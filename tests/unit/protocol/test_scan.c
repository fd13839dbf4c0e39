#include "base/protocol/scan.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void scan_changes_only_numbers_that_do_not_fit(void **state)
{
    static const struct {
        const char *before;
        const char *after;
    } CASES[] = {
        /* integers: 64 bits */
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775808", "1e308              "},
        {"-9223372036854775808", "-9223372036854775808"},
        {"-9223372036854775809", "-1e308              "},
        {"[99999999999999999999,1]", "[1e308               ,1]"},
        /* reals: a double */
        {"1e308", "1e308"},
        {"9e308", "1e308"},
        {"-1E+400", "-1e308 "},
        {"1.5e-400", "1.5e-400"},
        {"0e999999", "0e999999"},
        {"123456789012345678901234567890.5", "123456789012345678901234567890.5"},
        /* what only looks like a number */
        {"\"99999999999999999999\"", "\"99999999999999999999\""},
        {"\"\\\"99999999999999999999\"", "\"\\\"99999999999999999999\""},
        {"099999999999999999999", "099999999999999999999"},
        {"99999999999999999999.", "99999999999999999999."},
        {"99999999999999999999e", "99999999999999999999e"},
        {"99999999999999999999e+", "99999999999999999999e+"},
        {"1-99999999999999999999", "1-99999999999999999999"},
        {"-", "-"},
        {"--99999999999999999999", "--99999999999999999999"},
        {"", ""},
        {"\"", "\""},
        {"\"\\", "\"\\"},
        {"]}]},:", "]}]},:"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        AUTO_FREE char *text = memory_copy_string(CASES[i].before);
        AUTO(scan_deinit) struct scan scan = {0};
        struct error err = ERROR_INIT;

        assert_int_equal(scan_text(&scan, text, strlen(text), &err), 0);
        assert_string_equal(text, CASES[i].after);
        assert_int_equal(scan.count, 0);
    }
}

static void a_number_of_very_many_digits_is_changed(void **state)
{
    char text[400];
    AUTO(scan_deinit) struct scan scan = {0};
    struct error err = ERROR_INIT;

    (void)state;
    memset(text, '9', sizeof text);
    memcpy(text + sizeof text - 2, ".5", 2);
    assert_int_equal(scan_text(&scan, text, sizeof text, &err), 0);
    assert_memory_equal(text, "1e308 ", 6);
    assert_int_equal(text[sizeof text - 1], ' ');
}

#define HUGE_INTEGER "123456789012345678901234567890"

static void digits_are_kept_where_an_id_is(void **state)
{
    static const struct {
        const char *text;
        size_t element;
        enum scan_place place;
    } KEPT[] = {
        {"{\"id\":" HUGE_INTEGER "}", 0, SCAN_ID},
        {"{\"a\":[{\"b\":1}],\"id\" : " HUGE_INTEGER " }", 0, SCAN_ID},
        {"{\"\\u0069\\u0064\":" HUGE_INTEGER "}", 0, SCAN_ID},
        {"{\"params\":{\"requestId\":" HUGE_INTEGER "}}", 0, SCAN_REQUEST_ID},
        {"{\"params\":{\"a\":{},\"request\\u0049d\":" HUGE_INTEGER "}}", 0, SCAN_REQUEST_ID},
        {"[{\"id\":1},{\"id\":" HUGE_INTEGER "}]", 1, SCAN_ID},
        {"[[1,2,3],{\"params\":{\"requestId\":" HUGE_INTEGER "}}]", 1, SCAN_REQUEST_ID},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(KEPT); i++) {
        AUTO_FREE char *text = memory_copy_string(KEPT[i].text);
        AUTO(scan_deinit) struct scan scan = {0};
        struct error err = ERROR_INIT;
        const char *digits;

        assert_int_equal(scan_text(&scan, text, strlen(text), &err), 0);
        digits = scan_find(&scan, KEPT[i].element, KEPT[i].place);
        assert_non_null(digits);
        assert_string_equal(digits, HUGE_INTEGER);
        assert_int_equal(scan.count, 1);
    }
}

static void digits_are_not_kept_elsewhere(void **state)
{
    static const char *const TEXTS[] = {
        HUGE_INTEGER,
        "[" HUGE_INTEGER "]",
        "{\"ids\":" HUGE_INTEGER "}",
        "{\"i\":" HUGE_INTEGER "}",
        "{\"\\u0069\":" HUGE_INTEGER "}",
        "{\"\\u0169d\":" HUGE_INTEGER "}",
        "{\"id\":[" HUGE_INTEGER "]}",
        "{\"id\":{\"id\":" HUGE_INTEGER "}}",
        "{\"requestId\":" HUGE_INTEGER "}",
        "{\"params\":[{\"requestId\":" HUGE_INTEGER "}]}",
        "{\"params\":{\"a\":{\"requestId\":" HUGE_INTEGER "}}}",
        "[[{\"id\":" HUGE_INTEGER "}]]",
        "{\"id\":1e999}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(TEXTS); i++) {
        AUTO_FREE char *text = memory_copy_string(TEXTS[i]);
        AUTO(scan_deinit) struct scan scan = {0};
        struct error err = ERROR_INIT;

        assert_int_equal(scan_text(&scan, text, strlen(text), &err), 0);
        assert_int_equal(scan.count, 0);
    }
}

/* OPEN, then COUNT times REPEATED, then CLOSE; owned by the caller. */
static char *repeat(const char *open, const char *repeated, size_t count, const char *close)
{
    size_t length = strlen(repeated);
    char *text = memory_new(strlen(open) + count * length + strlen(close) + 1, 1);
    char *end = stpcpy(text, open);

    for (size_t i = 0; i < count; i++)
        end = stpcpy(end, repeated);
    stpcpy(end, close);
    return text;
}

static int scan_of(char *text, struct error *err)
{
    AUTO(scan_deinit) struct scan scan = {0};

    return scan_text(&scan, text, strlen(text), err);
}

static void assert_limit(const char *open, const char *repeated, size_t most, const char *close)
{
    AUTO_FREE char *fits = repeat(open, repeated, most, close);
    AUTO_FREE char *does_not = repeat(open, repeated, most + 1, close);
    struct error err = ERROR_INIT;

    assert_int_equal(scan_of(fits, &err), 0);
    assert_int_equal(scan_of(does_not, &err), -1);
    assert_int_equal(err.code, ERROR_INVALID_REQUEST);
}

static void messages_beyond_a_limit_are_refused(void **state)
{
    (void)state;
    assert_limit("", "[", SCAN_DEPTH, "");
    assert_limit("", "{\"a\":", SCAN_DEPTH, "1");
    assert_limit("[", "1,", SCAN_NODES - 2, "1]");
    assert_limit("[", "\"\",", SCAN_NODES - 2, "1]");
    assert_limit("[", "null,", SCAN_NODES - 2, "1]");
    assert_limit("[", "{},", SCAN_NODES - 2, "1]");
    assert_limit("{", "\"a\":1,", SCAN_MEMBERS - 1, "\"b\":1}");
}

static void siblings_do_not_count_as_depth(void **state)
{
    AUTO_FREE char *text = repeat("[", "[[]],", 1000, "1]");
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(scan_of(text, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_changes_only_numbers_that_do_not_fit),
        cmocka_unit_test(a_number_of_very_many_digits_is_changed),
        cmocka_unit_test(digits_are_kept_where_an_id_is),
        cmocka_unit_test(digits_are_not_kept_elsewhere),
        cmocka_unit_test(messages_beyond_a_limit_are_refused),
        cmocka_unit_test(siblings_do_not_count_as_depth),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
