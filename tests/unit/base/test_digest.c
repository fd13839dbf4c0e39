/* SHA-256 against the examples of its standard, in every possible split; signatures. */
#include "base/digest.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *text;
    const char *digest;
} examples[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopq"
     "klmnopqrlmnopqrsmnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

static void test_the_examples_of_the_standard_in_every_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
        const size_t length = strlen(examples[i].text);

        for (size_t split = 0; split <= length; split++) {
            char text[DIGEST_TEXT_BYTES];
            struct digest digest;

            digest_init(&digest);
            digest_add(&digest, examples[i].text, split);
            digest_add(&digest, examples[i].text + split, length - split);
            digest_finish(&digest, text);
            assert_string_equal(text, examples[i].digest);
        }
    }
}

static void test_a_million_bytes(void **state)
{
    char thousand[1000];
    char text[DIGEST_TEXT_BYTES];
    struct digest digest;

    (void)state;
    memset(thousand, 'a', sizeof thousand);
    digest_init(&digest);
    for (int i = 0; i < 1000; i++)
        digest_add(&digest, thousand, sizeof thousand);
    digest_finish(&digest, text);
    assert_string_equal(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void digest_of(const char *first, const char *second, char ret_text[DIGEST_TEXT_BYTES])
{
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, first);
    digest_add_string(&digest, second);
    digest_finish(&digest, ret_text);
}

static void test_strings_cannot_be_shifted(void **state)
{
    static const char *const pairs[][2] = {{"ab", "c"},   {"a", "bc"},   {"abc", ""},
                                           {"abc", NULL}, {NULL, "abc"}, {"", "abc"}};
    char texts[ARRAY_SIZE(pairs)][DIGEST_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
        digest_of(pairs[i][0], pairs[i][1], texts[i]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(texts[i], texts[j]);
    }
}

static const unsigned char KEY[DIGEST_KEY_BYTES] = "0123456789abcdef0123456789abcdef";
static const char DATA[] = "what is signed";

/* Python: hmac.new(b"0123456789abcdef0123456789abcdef", b"what is signed", "sha256") */
static const unsigned char SIGNATURE[DIGEST_BYTES] = {
    0x63, 0x61, 0xa0, 0x87, 0x71, 0x0d, 0x52, 0x4e, 0x83, 0x69, 0x8a, 0xc2, 0x33, 0x16, 0x08, 0x75,
    0x12, 0xd9, 0x3d, 0x53, 0xec, 0xee, 0x7d, 0xde, 0xa4, 0x72, 0x9a, 0xe3, 0x67, 0x80, 0x80, 0x3c};

static void test_a_signature_is_the_one_that_others_make(void **state)
{
    unsigned char signature[DIGEST_BYTES];

    (void)state;
    digest_sign(KEY, DATA, strlen(DATA), signature);
    assert_memory_equal(signature, SIGNATURE, sizeof signature);
    assert_true(digest_verify(KEY, DATA, strlen(DATA), signature, sizeof signature));
}

static void test_any_other_bit_of_a_signature_is_noticed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SIGNATURE * 8; i++) {
        unsigned char signature[DIGEST_BYTES];

        memcpy(signature, SIGNATURE, sizeof signature);
        signature[i / 8] ^= (unsigned char)(1U << i % 8);
        assert_false(digest_verify(KEY, DATA, strlen(DATA), signature, sizeof signature));
    }
}

static void test_another_key_text_or_length_is_noticed(void **state)
{
    unsigned char key[DIGEST_KEY_BYTES];

    (void)state;
    memcpy(key, KEY, sizeof key);
    key[0] ^= 1;
    assert_false(digest_verify(key, DATA, strlen(DATA), SIGNATURE, sizeof SIGNATURE));
    assert_false(digest_verify(KEY, DATA, strlen(DATA) - 1, SIGNATURE, sizeof SIGNATURE));
    assert_false(digest_verify(KEY, DATA, strlen(DATA), SIGNATURE, sizeof SIGNATURE - 1));
    assert_false(digest_verify(KEY, DATA, strlen(DATA), SIGNATURE, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_examples_of_the_standard_in_every_split),
        cmocka_unit_test(test_a_million_bytes),
        cmocka_unit_test(test_strings_cannot_be_shifted),
        cmocka_unit_test(test_a_signature_is_the_one_that_others_make),
        cmocka_unit_test(test_any_other_bit_of_a_signature_is_noticed),
        cmocka_unit_test(test_another_key_text_or_length_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
