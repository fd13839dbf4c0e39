/* One request that another replica answers: it is sent there, and the answer comes back to the
 * client, as a whole or event by event.
 *
 *     ASKED --> STREAM --> OVER
 *         `--------------'
 *
 * It is sent once. libcurl may repeat it on another connection, but the other replica takes each
 * seal only once. */
#pragma once

#include "server/transport/http/http_exchange.h"
#include "server/transport/http/http_origin.h"
#include "server/transport/http/replicas.h"

struct http_forward;

enum http_forward_end {
    HTTP_FORWARD_ANSWERED,  /* the response is complete */
    HTTP_FORWARD_UNREACHED, /* nothing was sent: the exchange is as it was */
};

struct http_forward_settings {
    struct replicas *replicas;      /* borrowed */
    struct replica *replica;        /* borrowed: it is asked */
    struct http_exchange *exchange; /* borrowed; its body is there */
    const struct http_names *names; /* borrowed */
    const char *principal;          /* borrowed until http_forward_start returns */

    /* The end, from the loop. http_forward_free is to be called. */
    void (*over)(void *data, enum http_forward_end end);
    void *data;
};

struct http_forward *http_forward_start(const struct http_forward_settings *settings);

/* The client takes events again. */
void http_forward_drained(struct http_forward *forward);

/* Leaves the other replica, which cancels a call of 2026-07-28 then. Harmless for NULL. */
void http_forward_free(struct http_forward *forward);
