#include "server/mcp/request_state.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/handle.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "server/mcp/used_states.h"

#include <stdlib.h>
#include <string.h>

#define REQUEST_STATE_PREFIX "v1."

enum {
    TEXT_BYTES = 64 * 1024, /* longest state */
};

struct request_states {
    const char *replica; /* borrowed; or NULL */
    unsigned char key[DIGEST_KEY_BYTES];
    struct used_states *used; /* owned */
};

struct request_states *request_states_new(const char *replica)
{
    struct request_states *states = NEW(struct request_states);

    states->replica = replica;
    random_fill(states->key, sizeof states->key);
    states->used = used_states_new(REQUEST_STATE_SECONDS);
    return states;
}

void request_states_free(struct request_states *states)
{
    if (!states)
        return;
    explicit_bzero(states->key, sizeof states->key);
    used_states_free(states->used);
    free(states);
}

/* A digest of OWNER, short enough to be part of a state. */
static void digest_owner(const struct request_state_owner *owner, char ret[DIGEST_TEXT_BYTES])
{
    AUTO_FREE char *arguments =
        owner->arguments ? json_dumps(owner->arguments, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, owner->principal);
    digest_add_string(&digest, owner->method);
    digest_add_string(&digest, owner->name);
    digest_add_string(&digest, arguments);
    digest_finish(&digest, ret);
}

/* Setting the clock of the machine back makes no expired state valid again. */
static json_int_t request_state_now(void)
{
    return (json_int_t)clock_seconds();
}

static char *request_state_sign(const struct request_states *states, const char *payload)
{
    unsigned char mac[DIGEST_BYTES];

    digest_sign(states->key, payload, strlen(payload), mac);
    return base64_encode(BASE64_URL, mac, sizeof mac);
}

char *request_state_seal(struct request_states *states, const struct request_state_owner *owner,
                         const json_t *content, struct error *err)
{
    char digest[DIGEST_TEXT_BYTES];
    AUTO_FREE char *nonce = random_digits(USED_STATES_NONCE_DIGITS);
    AUTO_JSON json_t *payload = NULL;
    AUTO_FREE char *json = NULL;
    AUTO_FREE char *text = NULL;
    AUTO_FREE char *mac = NULL;

    digest_owner(owner, digest);
    payload = json_pack("{s:I, s:s, s:s, s:O}", "made", request_state_now(), "nonce", nonce,
                        "owner", digest, "content", content);
    json = json_text(payload);
    text = base64_encode(BASE64_URL, json, strlen(json));
    if (strlen(text) > TEXT_BYTES) {
        error_set(err, ERROR_LIMIT, "what is to be remembered between two requests is too long");
        return NULL;
    }
    mac = request_state_sign(states, text);
    return memory_format("%s%s" REQUEST_STATE_PREFIX "%s.%s",
                         states->replica ? states->replica : "", states->replica ? "-" : "", text,
                         mac);
}

/* The payload of TEXT, if we have signed it. New reference, or NULL. */
static json_t *request_state_verify(const struct request_states *states, const char *state)
{
    const char *text = handle_secret(state);
    const char *payload = text + strlen(REQUEST_STATE_PREFIX);
    const char *dot;
    size_t length;
    AUTO_FREE char *mac = NULL;
    AUTO_FREE char *json = NULL;

    if (strlen(text) > 2 * TEXT_BYTES ||
        strncmp(text, REQUEST_STATE_PREFIX, strlen(REQUEST_STATE_PREFIX)) != 0)
        return NULL;
    dot = strchr(payload, '.');
    if (!dot)
        return NULL;
    mac = base64_decode(BASE64_URL, dot + 1, strlen(dot + 1), &length);
    if (!mac || !digest_verify(states->key, payload, (size_t)(dot - payload), mac, length))
        return NULL;
    json = base64_decode(BASE64_URL, payload, (size_t)(dot - payload), &length);
    return json ? json_loadb(json, length, 0, NULL) : NULL;
}

json_t *request_state_open(struct request_states *states, const struct request_state_owner *owner,
                           const char *text, struct error *err)
{
    AUTO_JSON json_t *payload = request_state_verify(states, text);
    const char *nonce = json_object_get_string(payload, "nonce");
    json_int_t made = json_integer_value(json_object_get(payload, "made"));
    char digest[DIGEST_TEXT_BYTES];

    digest_owner(owner, digest);
    if (!payload || strcmp(json_object_get_string(payload, "owner"), digest) != 0 ||
        !used_states_take(states->used, owner->principal, nonce, made, request_state_now())) {
        error_set(err, ERROR_INVALID_PARAMS, "requestState is unknown or has expired");
        return NULL;
    }
    return json_incref(json_object_get(payload, "content"));
}
