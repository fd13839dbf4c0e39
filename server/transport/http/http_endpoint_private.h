/* The inside of http_endpoint.h, and a visit: one request, until its handler is known.
 *
 *     ARRIVING --> WHOLE -----> SERVED
 *          `-----> ADMITTED --' ^
 *                       `--> PASSED
 *
 * The principal and the body are awaited at the same time. */
#pragma once

#include "server/transport/http/http_endpoint.h"

struct http_endpoint {
    struct http_service service;
    struct ev_loop *loop;        /* borrowed */
    struct authority *authority; /* borrowed; or NULL */
    struct replicas *replicas;   /* owned; or NULL */
    char **hosts;                /* owned, with its strings; NULL-terminated */
    char **origins;              /* the same */
    struct http_names names;
    struct http_calls calls;
    struct http_sessions sessions;
};

/* Finds out who has sent EXCHANGE, whose head has passed the checks that need no memory. */
void http_visit_begin(struct http_endpoint *endpoint, struct http_exchange *exchange);

/* The same for a request with SEAL, of another replica. */
void http_visit_begin_sealed(struct http_endpoint *endpoint, struct http_exchange *exchange,
                             const char *seal);

/* The body of EXCHANGE, which is being visited, is there. */
void http_visit_go_on(struct http_exchange *exchange);
