#include "server/transport/identity/replica_seal.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define REPLICA_SEAL_PREFIX "v1."

char *replica_seal_close(const unsigned char key[static DIGEST_KEY_BYTES],
                         const struct replica_seal *seal)
{
    AUTO_JSON json_t *payload = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:s}", "from", seal->from, "to", seal->to, "principal",
        seal->principal, "made", (json_int_t)seal->made, "epoch", (json_int_t)seal->epoch, "number",
        (json_int_t)seal->number, "digest", seal->digest);
    AUTO_FREE char *json = json_text(payload);
    AUTO_FREE char *text = base64_encode(BASE64_URL, json, strlen(json));
    unsigned char mac[DIGEST_BYTES];
    AUTO_FREE char *mac_text = NULL;

    digest_sign(key, text, strlen(text), mac);
    mac_text = base64_encode(BASE64_URL, mac, sizeof mac);
    return memory_format(REPLICA_SEAL_PREFIX "%s.%s", text, mac_text);
}

/* The payload of TEXT, if it was made with KEY. New reference, or NULL. */
static json_t *replica_seal_verify(const unsigned char key[static DIGEST_KEY_BYTES],
                                   const char *text)
{
    const size_t prefix = strlen(REPLICA_SEAL_PREFIX);
    const char *dot =
        strncmp(text, REPLICA_SEAL_PREFIX, prefix) == 0 ? strchr(text + prefix, '.') : NULL;
    size_t length;
    AUTO_FREE char *mac = dot ? base64_decode(BASE64_URL, dot + 1, strlen(dot + 1), &length) : NULL;
    AUTO_FREE char *json = NULL;

    if (!mac || !digest_verify(key, text + prefix, (size_t)(dot - text) - prefix, mac, length))
        return NULL;
    json = base64_decode(BASE64_URL, text + prefix, (size_t)(dot - text) - prefix, &length);
    return json ? json_loadb(json, length, 0, NULL) : NULL;
}

/* False for a text that does not fit: cut, it would be the name of somebody else. */
static bool replica_seal_read(const json_t *payload, const char *key, char *ret, size_t size)
{
    const char *text = json_object_get_string(payload, key);

    return text && (size_t)snprintf(ret, size, "%s", text) < size;
}

static int64_t replica_seal_read_integer(const json_t *payload, const char *key)
{
    return json_integer_value(json_object_get(payload, key));
}

bool replica_seal_open(const unsigned char key[static DIGEST_KEY_BYTES], const char *text,
                       struct replica_seal *ret)
{
    AUTO_JSON json_t *payload = replica_seal_verify(key, text);
    struct replica_seal seal = {
        .made = replica_seal_read_integer(payload, "made"),
        .epoch = replica_seal_read_integer(payload, "epoch"),
        .number = (uint64_t)replica_seal_read_integer(payload, "number"),
    };

    if (!replica_seal_read(payload, "from", seal.from, sizeof seal.from) ||
        !replica_seal_read(payload, "to", seal.to, sizeof seal.to) ||
        !replica_seal_read(payload, "principal", seal.principal, sizeof seal.principal) ||
        !replica_seal_read(payload, "digest", seal.digest, sizeof seal.digest))
        return false;
    *ret = seal;
    return true;
}
