#include "server/transport/identity/replica_seal.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const unsigned char key[DIGEST_KEY_BYTES] = "a key of replicas";
static const unsigned char other_key[DIGEST_KEY_BYTES] = "another key of replicas";

static const struct replica_seal example = {
    .from = "a",
    .to = "b",
    .principal = "alice",
    .made = 1700000000,
    .epoch = 1700000000123,
    .number = 42,
    .digest = "0123",
};

static void test_a_seal_is_read_as_it_was_made(void **state)
{
    AUTO_FREE char *text = replica_seal_close(key, &example);
    struct replica_seal seal;

    (void)state;
    assert_true(replica_seal_open(key, text, &seal));
    assert_string_equal(seal.from, example.from);
    assert_string_equal(seal.to, example.to);
    assert_string_equal(seal.principal, example.principal);
    assert_int_equal(seal.made, example.made);
    assert_int_equal(seal.epoch, example.epoch);
    assert_int_equal(seal.number, example.number);
    assert_string_equal(seal.digest, example.digest);
}

static void test_another_key_opens_nothing(void **state)
{
    AUTO_FREE char *text = replica_seal_close(key, &example);
    struct replica_seal seal;

    (void)state;
    assert_false(replica_seal_open(other_key, text, &seal));
}

static void test_no_byte_of_a_seal_can_be_changed_or_left_out(void **state)
{
    AUTO_FREE char *text = replica_seal_close(key, &example);
    const size_t length = strlen(text);
    struct replica_seal seal;

    (void)state;
    for (size_t i = 0; i < length; i++) {
        AUTO_FREE char *changed = memory_copy_string(text);

        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        assert_false(replica_seal_open(key, changed, &seal));
        changed[i] = '\0';
        assert_false(replica_seal_open(key, changed, &seal));
    }
}

/* A sender whose names may be longer, such as another version. */
static void test_a_name_that_does_not_fit_is_not_cut(void **state)
{
    AUTO_FREE char *name = memory_new(sizeof example.principal + 1, 1);
    struct replica_seal seal;

    (void)state;
    memset(name, 'a', sizeof example.principal);
    for (int cut = 0; cut < 2; cut++) {
        AUTO_JSON json_t *payload = json_pack("{s:s, s:s, s:s, s:s}", "from", "a", "to", "b",
                                              "digest", "", "principal", name + cut);
        AUTO_FREE char *json = json_text(payload);
        AUTO_FREE char *text = base64_encode(BASE64_URL, json, strlen(json));
        unsigned char mac[DIGEST_BYTES];
        AUTO_FREE char *mac_text = NULL;
        AUTO_FREE char *sealed = NULL;

        digest_sign(key, text, strlen(text), mac);
        mac_text = base64_encode(BASE64_URL, mac, sizeof mac);
        sealed = memory_format("v1.%s.%s", text, mac_text);
        assert_int_equal(replica_seal_open(key, sealed, &seal), cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_seal_is_read_as_it_was_made),
        cmocka_unit_test(test_another_key_opens_nothing),
        cmocka_unit_test(test_a_name_that_does_not_fit_is_not_cut),
        cmocka_unit_test(test_no_byte_of_a_seal_can_be_changed_or_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
