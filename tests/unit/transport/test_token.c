#include "base/memory.h"
#include "server/transport/identity/authority.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define DIGEST_OF_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void test_it_is_the_sha_256_of_its_text(void **state)
{
    struct token token = token_of("abc", 3);
    struct token read;

    (void)state;
    assert_true(token_read_digest(DIGEST_OF_ABC, &read));
    assert_true(token_equals(&token, &read));
    assert_true(token_read_digest(
        "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD", &read));
    assert_true(token_equals(&token, &read));
}

static void test_equals_itself_and_nothing_else(void **state)
{
    static const char *const others[] = {"", "secre", "secreT", "Secret", "secretsecret"};
    struct token token = token_of("secret", 6);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        struct token other = token_of(others[i], strlen(others[i]));

        assert_false(token_equals(&token, &other));
    }
}

static void test_a_digest_has_64_digits(void **state)
{
    static const char *const bad[] = {
        "",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a",
        DIGEST_OF_ABC "0",
        "ga7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "ba7816bf8f01cfea414140de5dae2223 00361a396177a9cb410ff61f20015ad",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct token token = token_of("x", 1);
        struct token before = token;

        assert_false(token_read_digest(bad[i], &token));
        assert_true(token_equals(&token, &before));
    }
}

static void test_a_word_is_visible_ascii(void **state)
{
    static const char *const bad[] = {"", " ", "a b", "a\n", "\ta", "caf\xc3\xa9", "\x7f"};

    (void)state;
    assert_true(token_is_word("!~aZ09-._~+/=", 13));
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_false(token_is_word(bad[i], strlen(bad[i])));
    assert_false(token_is_word("a\0b", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_the_sha_256_of_its_text),
        cmocka_unit_test(test_equals_itself_and_nothing_else),
        cmocka_unit_test(test_a_digest_has_64_digits),
        cmocka_unit_test(test_a_word_is_visible_ascii),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
