#include "base/hmac.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const unsigned char KEY[HMAC_KEY_BYTES] = "0123456789abcdef0123456789abcdef";
static const char DATA[] = "what is signed";

/* Python: hmac.new(b"0123456789abcdef0123456789abcdef", b"what is signed", "sha256") */
static const unsigned char MAC[HMAC_BYTES] = {
    0x63, 0x61, 0xa0, 0x87, 0x71, 0x0d, 0x52, 0x4e, 0x83, 0x69, 0x8a, 0xc2, 0x33, 0x16, 0x08, 0x75,
    0x12, 0xd9, 0x3d, 0x53, 0xec, 0xee, 0x7d, 0xde, 0xa4, 0x72, 0x9a, 0xe3, 0x67, 0x80, 0x80, 0x3c};

static void it_is_the_one_that_others_make(void **state)
{
    unsigned char mac[HMAC_BYTES];

    (void)state;
    hmac_sign(KEY, DATA, strlen(DATA), mac);
    assert_memory_equal(mac, MAC, sizeof mac);
    assert_true(hmac_verify(KEY, DATA, strlen(DATA), mac, sizeof mac));
}

static void any_other_bit_is_noticed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof MAC * 8; i++) {
        unsigned char mac[HMAC_BYTES];

        memcpy(mac, MAC, sizeof mac);
        mac[i / 8] ^= (unsigned char)(1U << i % 8);
        assert_false(hmac_verify(KEY, DATA, strlen(DATA), mac, sizeof mac));
    }
}

static void another_key_text_or_length_is_noticed(void **state)
{
    unsigned char key[HMAC_KEY_BYTES];

    (void)state;
    memcpy(key, KEY, sizeof key);
    key[0] ^= 1;
    assert_false(hmac_verify(key, DATA, strlen(DATA), MAC, sizeof MAC));
    assert_false(hmac_verify(KEY, DATA, strlen(DATA) - 1, MAC, sizeof MAC));
    assert_false(hmac_verify(KEY, DATA, strlen(DATA), MAC, sizeof MAC - 1));
    assert_false(hmac_verify(KEY, DATA, strlen(DATA), MAC, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_one_that_others_make),
        cmocka_unit_test(any_other_bit_is_noticed),
        cmocka_unit_test(another_key_text_or_length_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
