/* The sessions of all clients, and the answers that were sent and are kept for a while, for clients
 * whose connection broke before they had them.
 *
 * If all places are taken, a new session takes the place of an idle session: among the holders that
 * have at least as many sessions as the newcomer, the session that is idle for longest is ended. A
 * client that has half of all sessions loses a session of its own, and so do clients of one user or
 * address that have three quarters together. */
#pragma once

#include "server/transport/http/http_session.h"

enum { HTTP_SESSIONS_BUCKETS = 256 };

struct http_sessions {
    /* Inputs, set before http_sessions_init. */
    struct ev_loop *loop;           /* borrowed */
    struct mcp_server *server;      /* borrowed */
    const struct http_names *names; /* borrowed */
    const char *replica;            /* borrowed; its name stands in ids (base/handle.h); or NULL */
    unsigned most;                  /* sessions */
    double idle_seconds;            /* then a session ends */

    unsigned count;

    /* Private. */
    unsigned long last_number; /* that a session got, for the log */
    struct list all;           /* of struct http_session: owned; longest untouched first */
    struct list buckets[HTTP_SESSIONS_BUCKETS]; /* by the first byte of the id */
    struct list kept;                           /* of struct event_stream: longest complete first */
    size_t kept_bytes;
    unsigned kept_count;
    struct list over; /* of struct event_stream: owned; freed before the loop sleeps */
    struct ev_prepare settle;
    struct ev_timer tick;
};

void http_sessions_init(struct http_sessions *sessions);

void http_sessions_deinit(struct http_sessions *sessions);

/* Ends all of them; no new one is to be opened. */
void http_sessions_end(struct http_sessions *sessions);

/* A new session of PRINCIPAL, which counts for HOLDER; NULL: there is no place for it. */
struct http_session *http_sessions_open(struct http_sessions *sessions, const char *principal,
                                        const struct holder *holder);

/* The session that ID names, or NULL; touches it. It is found by its own principal only. */
struct http_session *http_sessions_find(struct http_sessions *sessions, const char *id,
                                        const char *principal);

/* Cancels running calls of SESSION, ends its open streams, and frees it. Not below a call from
 * it. */
void http_sessions_close(struct http_session *session);

/* Keeps STREAM, which is COMPLETE, as long as there is room; frees the longest kept for it. */
void http_sessions_keep(struct http_sessions *sessions, struct event_stream *stream);

/* STREAM is not needed any more; it is freed before the loop sleeps. */
void http_sessions_drop(struct http_sessions *sessions, struct event_stream *stream);
