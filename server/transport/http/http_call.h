/* Requests of 2026-07-28: each stands alone, and lives as long as the client waits for its answer.
 *
 * The answer is a plain response, or the last event of a stream if other messages are sent before
 * it. A client that goes away has cancelled its call. */
#pragma once

#include "base/list.h"
#include "server/jsonrpc/session.h"
#include "server/transport/http/http_answer.h"
#include "server/transport/http/http_exchange.h"
#include "server/transport/http/http_origin.h"

#include <ev.h>
#include <stdbool.h>

struct http_calls {
    /* Inputs, set before http_calls_init. */
    struct ev_loop *loop;           /* borrowed */
    struct mcp_server *server;      /* borrowed */
    const struct http_names *names; /* borrowed */

    /* Private. */
    struct list active; /* of struct http_call: owned */
    struct list over;   /* of struct http_call: owned; freed before the loop sleeps */
    struct ev_prepare settle;
};

void http_calls_init(struct http_calls *calls);

/* Answers the requests that only listen. */
void http_calls_conclude(struct http_calls *calls);

/* Cancels all calls, and closes the connections of clients that wait for them. */
void http_calls_deinit(struct http_calls *calls);

/* Answers INCOMING, the body of EXCHANGE, for PRINCIPAL. STREAMS: the client takes events. */
void http_call_start(struct http_calls *calls, struct incoming *incoming,
                     struct http_exchange *exchange, const char *principal,
                     const struct mcp_headers *headers, bool streams);
