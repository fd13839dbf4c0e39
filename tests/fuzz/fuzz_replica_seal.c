/* Input: what is to be the seal of a replica, and as the payload of one. Nothing that was not made
 * with the key is ever opened, also when it is a good one with something cut off and put in its
 * place. What a holder of the key has signed is read as it is, or not at all. */
#undef NDEBUG
#include "base/base64.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "server/transport/identity/replica_seal.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const unsigned char KEY[DIGEST_KEY_BYTES] = "a key of replicas";
static const struct replica_seal GOOD = {.from = "a",
                                         .to = "b",
                                         .principal = "alice",
                                         .made = 1,
                                         .epoch = 2,
                                         .number = 3,
                                         .digest = "d"};

static bool is_opened(const char *text)
{
    struct replica_seal seal;

    return replica_seal_open(KEY, text, &seal);
}

static void assert_equal(const struct replica_seal *one, const struct replica_seal *other)
{
    assert(strcmp(one->from, other->from) == 0 && strcmp(one->to, other->to) == 0);
    assert(strcmp(one->principal, other->principal) == 0);
    assert(strcmp(one->digest, other->digest) == 0);
    assert(one->made == other->made && one->epoch == other->epoch && one->number == other->number);
}

/* The seal of any PAYLOAD. Owned by the caller. */
static char *sign(const uint8_t *payload, size_t size)
{
    AUTO_FREE char *text = base64_encode(BASE64_URL, payload, size);
    unsigned char mac[DIGEST_BYTES];
    AUTO_FREE char *mac_text = NULL;

    digest_sign(KEY, text, strlen(text), mac);
    mac_text = base64_encode(BASE64_URL, mac, sizeof mac);
    return memory_format("v1.%s.%s", text, mac_text);
}

static void read_signed(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = sign(data, size);
    AUTO_FREE char *again = NULL;
    struct replica_seal seal;
    struct replica_seal reread;

    if (!replica_seal_open(KEY, text, &seal))
        return;
    again = replica_seal_close(KEY, &seal);
    assert(replica_seal_open(KEY, again, &reread));
    assert_equal(&seal, &reread);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = memory_format("%.*s", (int)size, (const char *)data);
    AUTO_FREE char *good = replica_seal_close(KEY, &GOOD);
    size_t kept = size > 0 ? data[0] % strlen(good) : 0;
    AUTO_FREE char *mixed = memory_format("%.*s%s", (int)kept, good, text);

    assert(strcmp(text, good) == 0 || !is_opened(text));
    assert(strcmp(mixed, good) == 0 || !is_opened(mixed));
    read_signed(data, size);
    return 0;
}
