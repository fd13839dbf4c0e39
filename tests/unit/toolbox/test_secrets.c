/* Secrets are found wherever they stand, and references to variables are read. */
#include "toolbox/secrets.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_variables_are_read(void **state)
{
    static const struct {
        const char *text;
        const char *expanded; /* NULL: an error */
    } cases[] = {
        {"plain $x {} $", "plain $x {} $"},
        {"Bearer ${LONG_ONE}", "Bearer 0123456789"},
        {"${SHORT_ONE}${SHORT_ONE}", "12341234"},
        {"$${LONG_ONE}", "${LONG_ONE}"},
        {"${LONG_ONE", NULL},
        {"${NO_SUCH_ONE}", NULL},
        {"${}", NULL},
    };

    (void)state;
    setenv("LONG_ONE", "0123456789", 1);
    setenv("SHORT_ONE", "1234", 1);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = ERROR_INIT;
        AUTO(secrets_deinit) struct secrets secrets = {0};
        AUTO_FREE char *expanded = secrets_expand(&secrets, cases[i].text, &err);

        if (cases[i].expanded)
            assert_string_equal(expanded, cases[i].expanded);
        else
            assert_int_equal(err.code, ERROR_CONFIG);
    }
}

static void test_values_are_hidden_in_everything(void **state)
{
    AUTO(secrets_deinit) struct secrets secrets = {0};
    struct error err = ERROR_INIT;
    AUTO_JSON json_t *value =
        json_pack("{s:s, s:[s, {s:i}], s:s%}", "a", "x0123456789yy0123456789-more0123456789",
                  "list", "0123456789", "key 0123456789", 1, "nul",
                  "a\0"
                  "0123456789",
                  (size_t)12);
    AUTO_FREE char *text = NULL;

    (void)state;
    setenv("LONG_ONE", "0123456789", 1);
    setenv("LONGER_ONE", "0123456789-more", 1);
    setenv("SHORT_ONE", "1234", 1);
    free(secrets_expand(&secrets, "${SHORT_ONE}", &err));
    assert_true(secrets.were_named);
    free(secrets_expand(&secrets, "${LONG_ONE}", &err));
    free(secrets_expand(&secrets, "${LONGER_ONE}", &err));
    secrets_hide(&secrets, value);
    text = json_text(value);
    assert_string_equal(text, "{\"a\":\"x[secret]yy[secret][secret]\",\"list\":[\"[secret]\","
                              "{\"key [secret]\":1}],\"nul\":\"a\\u0000[secret]\"}");
    error_set(&err, ERROR_UNAVAILABLE, "wrong: 0123456789-more.");
    secrets_hide_error(&secrets, &err);
    assert_string_equal(err.message, "wrong: [secret].");
}

static void test_a_value_is_hidden_where_an_error_is_cut(void **state)
{
    static const char value[] = "0123456789";
    AUTO(secrets_deinit) struct secrets secrets = {0};
    struct error err = ERROR_INIT;

    (void)state;
    setenv("LONG_ONE", value, 1);
    free(secrets_expand(&secrets, "${LONG_ONE}", &err));
    for (int before = 470; before < ERROR_FULL_BYTES; before++) {
        struct error_rest rest;
        struct error whole = ERROR_INIT_LONG(&rest);
        struct error cut = ERROR_INIT;
        AUTO_FREE char *text = NULL;

        error_set(&whole, ERROR_UNAVAILABLE, "%*s%s.", before, "", value);
        error_copy(&cut, &whole);
        secrets_hide_error(&secrets, &whole);
        secrets_hide_error(&secrets, &cut);
        text = error_text(&whole);
        assert_null(strstr(text, "0123"));
        assert_null(strstr(cut.message, "0123"));
    }
}

struct filtered {
    struct secret_filter filter;
    char text[100];
};

static void on_passed(struct secret_filter *filter, const char *bytes, size_t length)
{
    struct filtered *filtered = CONTAINER_OF(filter, struct filtered, filter);

    strncat(filtered->text, bytes, length);
}

static void test_a_value_is_hidden_that_comes_in_pieces(void **state)
{
    static const char text[] = "a 0123456789\n012345\n01230123456789 b\n";
    AUTO(secrets_deinit) struct secrets secrets = {0};
    struct error err = ERROR_INIT;

    (void)state;
    setenv("LONG_ONE", "0123456789", 1);
    free(secrets_expand(&secrets, "${LONG_ONE}", &err));
    for (size_t first = 0; first < sizeof text; first++) {
        struct filtered filtered = {.filter.passed = on_passed};

        secret_filter_init(&filtered.filter, &secrets);
        secret_filter_feed(&filtered.filter, text, first);
        secret_filter_feed(&filtered.filter, text + first, strlen(text + first));
        assert_string_equal(filtered.text, "a [secret]\n012345\n0123[secret] b\n");
        secret_filter_deinit(&filtered.filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables_are_read),
        cmocka_unit_test(test_values_are_hidden_in_everything),
        cmocka_unit_test(test_a_value_is_hidden_where_an_error_is_cut),
        cmocka_unit_test(test_a_value_is_hidden_that_comes_in_pieces),

    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
