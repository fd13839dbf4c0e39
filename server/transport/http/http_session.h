/* One session of a revision before 2026-07-28: `initialize` opens it, and later requests name its
 * id.
 *
 * Its calls go on when a connection breaks. It ends when the client says so, or has not been heard
 * of for long. */
#pragma once

#include "server/transport/http/event_stream.h"
#include "server/transport/identity/holder.h"

enum { HTTP_SESSION_DIGITS = 32 }; /* of the id: 128 bits */

struct http_sessions;

struct http_session {
    struct list link;            /* in `all` of its owner */
    struct list bucket_link;     /* in a bucket of its owner */
    struct http_sessions *owner; /* borrowed */
    char *id;                    /* owned */
    char *fields;                /* owned: the response field with the id */
    char *principal;             /* owned */
    struct holder holder;        /* the client that it counts for */
    struct session session;
    struct event_stream general; /* for messages that belong to no request: GET */
    struct list streams;         /* of struct event_stream: owned; one for each request */
    unsigned long last_stream;
    double touched; /* time of its last request */
};

/* PRINCIPAL and HOLDER are copied. */
struct http_session *http_session_new(struct http_sessions *owner, const char *principal,
                                      const struct holder *holder);

/* The session that STREAM is of. */
struct http_session *http_session_of_stream(const struct event_stream *stream);

/* Cancels running calls and ends open streams. */
void http_session_free(struct http_session *session);

/* Its handshake has succeeded. */
bool http_session_is_open(const struct http_session *session);

/* A call is running or a client connected. */
bool http_session_is_busy(const struct http_session *session);

/* Takes what EXCHANGE brought, and answers it now or later. STREAMS: the client takes events. */
void http_session_take(struct http_session *session, struct incoming *incoming,
                       struct http_exchange *exchange, const struct mcp_headers *headers,
                       bool streams);

/* EXCHANGE is a GET: it wants messages that belong to no request or, with LAST_EVENT, the id of an
 * event, the events that followed on the same stream. */
void http_session_listen(struct http_session *session, struct http_exchange *exchange,
                         const char *last_event);
