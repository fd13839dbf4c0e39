#include "server/transport/token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_matches_itself_and_nothing_else(void **state)
{
    struct error err = ERROR_INIT;
    struct token token;

    (void)state;
    assert_int_equal(token_init(&token, "secret", &err), 0);
    assert_true(token_matches(&token, "secret", 6));
    assert_true(token_matches(&token, "secret and more", 6));
    assert_false(token_matches(&token, "", 0));
    assert_false(token_matches(&token, "secre", 5));
    assert_false(token_matches(&token, "secret", 5));
    assert_false(token_matches(&token, "secreT", 6));
    assert_false(token_matches(&token, "Secret", 6));
    assert_false(token_matches(&token, "secret\0", 7));
    assert_false(token_matches(&token, "secretsecret", 12));
}

static void test_the_longest_token_works(void **state)
{
    char text[TOKEN_BYTES + 2] = {0};
    struct error err = ERROR_INIT;
    struct token token;

    (void)state;
    memset(text, 't', TOKEN_BYTES);
    assert_int_equal(token_init(&token, text, &err), 0);
    text[TOKEN_BYTES] = 't';
    assert_true(token_matches(&token, text, TOKEN_BYTES));
    assert_false(token_matches(&token, text, TOKEN_BYTES + 1));
    assert_false(token_matches(&token, text, TOKEN_BYTES - 1));
}

static void test_refuses_what_no_line_can_carry(void **state)
{
    static const char *const bad[] = {"", " ", "a b", "a\n", "\ta", "caf\xc3\xa9", "\x7f"};
    char text[TOKEN_BYTES + 2] = {0};
    struct token token;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;

        assert_int_equal(token_init(&token, bad[i], &err), -1);
        assert_int_equal(err.code, ERROR_CONFIG);
    }
    struct error err = ERROR_INIT;

    memset(text, 't', TOKEN_BYTES + 1);
    assert_int_equal(token_init(&token, text, &err), -1);
    assert_non_null(strstr(err.message, "longer than 4096 bytes"));
}

static void test_deinit_leaves_nothing_behind(void **state)
{
    struct token nothing = {0};
    struct error err = ERROR_INIT;
    struct token token;

    (void)state;
    assert_int_equal(token_init(&token, "secret", &err), 0);
    token_deinit(&token);
    assert_memory_equal(&token, &nothing, sizeof(token));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches_itself_and_nothing_else),
        cmocka_unit_test(test_the_longest_token_works),
        cmocka_unit_test(test_refuses_what_no_line_can_carry),
        cmocka_unit_test(test_deinit_leaves_nothing_behind),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
