/* One JSON-RPC peer: ids, calls in flight, cancellation, batches, and what is asked of the client.
 *
 * The transport hands in one message at a time, with the sink that its answer goes to. A call lives
 * from its request to its answer; the half that mcp needs is embedded in it. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "server/jsonrpc/incoming.h"
#include "server/mcp/headers.h"
#include "server/mcp/peer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct mcp_server;

/* The transport's side of one exchange. Over stdio and sockets there is one sink per connection;
 * over HTTP one per exchange, so that LAST == false turns the reply into an event stream. */
struct sink {
    /* Sends one complete JSON text of LENGTH bytes, without line break; borrowed. LAST: it answers
     * the message that the exchange began with. CODE: of the error in it, or ERROR_NONE. */
    void (*send)(struct sink *sink, const char *text, size_t length, bool last,
                 enum error_code code);

    /* No answer will come: the call was cancelled. May be NULL. */
    void (*close)(struct sink *sink);

    /* The client may be let go for now; it comes back for the rest. May be NULL. */
    void (*release)(struct sink *sink);

    bool answers_only; /* carries nothing but what is LAST */
};

enum {
    SESSION_CALLS = 256,                   /* most calls in flight */
    SESSION_BATCHES = 8,                   /* most batches whose answers are not complete */
    SESSION_QUESTIONS = 256,               /* most requests to the client that are not answered */
    SESSION_HELD_BYTES = 64 * 1024 * 1024, /* most bytes of messages that wait for an answer */
};

struct session {
    struct sink *sink; /* for what belongs to no call; borrowed; NULL: nobody listens */
    struct mcp_peer peer;
    struct list calls;     /* of struct call: owned */
    struct list batches;   /* of struct batch: owned */
    struct list questions; /* of struct question: owned */
    size_t call_count;
    size_t batch_count;
    size_t question_count;
    unsigned last_question;
    size_t held_bytes; /* of the messages that the calls in flight came in */
};

/* SINK may be NULL. */
void session_init(struct session *session, struct mcp_server *server,
                  const struct mcp_peer_settings *settings, struct sink *sink);

/* Cancels what is in flight; nothing is sent any more. */
void session_deinit(struct session *session);

/* Takes INCOMING, whose answer goes to SINK: borrowed until what is LAST was sent, or it was
 * closed. HEADERS are those of HTTP, NULL elsewhere; borrowed during the call. False: no answer is
 * owed, and nothing was sent. */
bool session_take(struct session *session, const struct incoming *incoming, struct sink *sink,
                  const struct mcp_headers *headers);

/* One message of LENGTH bytes, to be answered to the session's own sink. TEXT is changed in place.
 */
void session_receive(struct session *session, char *text, size_t length);

/* Answers a line that the transport had to skip because it is longer than LIMIT bytes. */
void session_refuse_line(struct session *session, size_t limit);

/* There will be nothing more to hear, because the client sends nothing more or the server stops:
 * requests that only listen are answered now. */
void session_conclude(struct session *session);

/* True when no answer is owed. */
bool session_is_idle(const struct session *session);

/* True while progress notifications may be dropped because the client does not read. The transport
 * sets it; requests are answered all the same. */
void session_set_slow(struct session *session, bool slow);
