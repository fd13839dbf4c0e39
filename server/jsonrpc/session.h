/* One JSON-RPC peer: ids, calls in flight, cancellation, batches.
 *
 * The transport hands in one message at a time; what goes back leaves through the sink that came
 * with the session. A call lives from its request to its answer; the half that mcp needs is
 * embedded in it. */
#pragma once

#include "base/list.h"
#include "server/mcp/mcp.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The transport's side of one exchange. Over stdio and sockets there is one sink per connection;
 * over HTTP one per exchange, so that LAST == false turns the reply into an event stream. */
struct sink {
    /* Sends one complete JSON text of LENGTH bytes, without line break; borrowed. LAST: it answers
     * the message that the exchange began with. CODE: the JSON-RPC error code in it, 0 for none. */
    void (*send)(struct sink *sink, const char *text, size_t length, bool last, int code);
};

enum {
    SESSION_CALLS = 256,                   /* most calls in flight */
    SESSION_BATCHES = 8,                   /* most batches whose answers are not complete */
    SESSION_HELD_BYTES = 64 * 1024 * 1024, /* most bytes of messages that wait for an answer */
};

struct session {
    struct sink *sink; /* borrowed: the connection that this session is embedded in */
    struct mcp_peer peer;
    struct list calls;   /* of struct call: owned */
    struct list batches; /* of struct batch: owned */
    size_t call_count;
    size_t batch_count;
    size_t held_bytes; /* of the messages that the calls in flight came in */
};

/* PRINCIPAL names who is on the other side, for what must be kept apart; copied. */
void session_init(struct session *session, struct mcp_server *server, const char *principal,
                  struct sink *sink);

/* Cancels what is in flight; nothing is sent any more. */
void session_deinit(struct session *session);

/* One message of LENGTH bytes. TEXT is changed in place. */
void session_receive(struct session *session, char *text, size_t length);

/* Answers a line that the transport had to skip because it is longer than LIMIT bytes. */
void session_refuse_line(struct session *session, size_t limit);

/* True when no answer is owed. */
bool session_is_idle(const struct session *session);

/* True while progress notifications may be dropped because the client does not read. The transport
 * sets it; requests are answered all the same. */
void session_set_slow(struct session *session, bool slow);
