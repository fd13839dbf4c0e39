/* A text that has come in: a message, a batch of them, or neither. */
#pragma once

#include "base/error.h"
#include "base/protocol/scan.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum incoming_kind {
    INCOMING_INVALID,    /* not JSON, or not a message; it is answered with an error */
    INCOMING_BATCH,      /* an array */
    INCOMING_INITIALIZE, /* the handshake of the revisions up to 2025-11-25 */
    INCOMING_MODERN,     /* a request that claims to be stateless, rightly or not */
    INCOMING_REQUEST,    /* any other request */
    INCOMING_NOTIFICATION,
    INCOMING_RESPONSE,
};

struct incoming {
    enum incoming_kind kind;
    json_t *value;      /* owned; NULL when it is not JSON */
    struct scan scan;   /* numbers and strings that the parser did not see */
    struct error fault; /* why there is no value */
    char *id;           /* of a request that is not JSON, if it could be found; owned */
    size_t bytes;
};

/* Reads LENGTH bytes of TEXT, which is changed in place and not needed afterwards. */
void incoming_init(struct incoming *incoming, char *text, size_t length);
void incoming_deinit(struct incoming *incoming);

/* True for a request that is answered by an endless stream: subscriptions/listen. */
bool incoming_is_endless(const struct incoming *incoming);
