/* The state of a request that asks its client, which the client returns with the answers
 * (2026-07-28): `v1.PAYLOAD.MAC`, both in base64url, behind the name of the replica (base/handle.h)
 * where there is one. The client can read it. It cannot change it,
 * use it for another request or as another principal, use it twice, or use it later than
 * REQUEST_STATE_SECONDS. */
#pragma once

#include "base/error.h"

#include <jansson.h>

enum { REQUEST_STATE_SECONDS = 600 };

struct request_states;

/* The owner of a state. Borrowed. */
struct request_state_owner {
    const char *principal;
    const char *method;
    const char *name;        /* of the invoked entry */
    const json_t *arguments; /* or NULL */
};

/* A new key; states that were made with another key are not accepted. REPLICA: the name of this
 * server, or NULL; borrowed. */
struct request_states *request_states_new(const char *replica);
void request_states_free(struct request_states *states);

/* The text that carries CONTENT for OWNER; owned by the caller. NULL when it would be too long. */
char *request_state_seal(struct request_states *states, const struct request_state_owner *owner,
                         const json_t *content, struct error *err);

/* Opens TEXT, which must belong to OWNER and can be opened once. Its content is a new reference, or
 * NULL with ERROR_INVALID_PARAMS. */
json_t *request_state_open(struct request_states *states, const struct request_state_owner *owner,
                           const char *text, struct error *err);
