/* The events that a session sends in answer to one request, or of its own accord. They outlive the
 * connection that carries them.
 *
 *     QUIET     nothing was sent yet: one answer can still be a plain response
 *     OPEN      events are sent, and the last of them kept, for a client that comes back for them
 *     COMPLETE  the last event is in the log
 *     OVER      nothing is sent any more, and nobody can come back
 *
 * While nobody is connected, events are only kept. A slow client counts as absent until it takes
 * more. */
#pragma once

#include "base/list.h"
#include "server/jsonrpc/session.h"
#include "server/transport/http/http_answer.h"
#include "server/transport/http/http_exchange.h"
#include "server/transport/http/http_origin.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

enum event_stream_state {
    EVENT_STREAM_QUIET,
    EVENT_STREAM_OPEN,
    EVENT_STREAM_COMPLETE,
    EVENT_STREAM_OVER,
};

struct event {
    struct list link;
    unsigned long number; /* from 1 */
    size_t length;
    char text[]; /* ends in NUL */
};

/* The last events of a stream, each with its number, for a client that comes back for events it has
 * missed. The oldest are given up where there are too many. */
struct event_log {
    struct list events; /* of struct event: owned; oldest first */
    size_t bytes;
    size_t limit;       /* of bytes, the newest event aside */
    unsigned long last; /* number of the newest, 0: there was none */
};

void event_log_init(struct event_log *log, size_t limit);
void event_log_deinit(struct event_log *log);

void event_log_append(struct event_log *log, const char *text, size_t length);

/* The oldest event behind NUMBER, valid until the next one is appended; NULL: there is none. */
const struct event *event_log_next(const struct event_log *log, unsigned long number);

struct event_stream {
    /* Inputs, set before event_stream_init. */
    struct ev_loop *loop;           /* borrowed */
    const struct http_names *names; /* borrowed */
    struct session *session;        /* borrowed: the session that sends */
    unsigned long number;           /* in the session */
    bool is_lasting;                /* belongs to no request, so no event is the last */
    const char *fields;             /* borrowed: of a plain response that is no error; NULL: none */

    /* It is COMPLETE or OVER, and nobody is connected. Called below a call to it. */
    void (*ended)(struct event_stream *stream);

    struct sink sink; /* where the session sends to */
    struct event_log log;
    enum event_stream_state state;
    struct http_exchange *exchange; /* borrowed: the exchange of the connected client, or NULL */

    /* For the owner. */
    struct list link;
    struct list kept_link;
    double kept_since;

    /* Private. */
    struct http_answer answer;
    unsigned long sent; /* number of the last event that was written */
    bool congested;
    bool is_batch;
    struct ev_timer quiet;
};

void event_stream_init(struct event_stream *stream);
void event_stream_deinit(struct event_stream *stream);

/* EXCHANGE waits for the answer. STREAMS: its client accepts events. */
void event_stream_answer(struct event_stream *stream, struct http_exchange *exchange, bool streams);

/* Sends EXCHANGE the events behind number AFTER. It replaces an exchange that is still connected.
 */
void event_stream_resume(struct event_stream *stream, struct http_exchange *exchange,
                         unsigned long after);

/* The client that asked is owed no answer. */
void event_stream_accept(struct event_stream *stream);

/* Ends it for a client that is connected: the session has ended. `ended` is not called. */
void event_stream_close(struct event_stream *stream);
