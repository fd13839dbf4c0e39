/* One JSON-RPC peer: ids, calls in flight, cancellation, batches, and questions to the client.
 *
 * The transport hands in one message at a time, with the sink that its answer goes to. A call lives
 * from its request to its answer; the half that mcp needs is embedded in it. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "server/jsonrpc/incoming.h"
#include "server/jsonrpc/sink.h"
#include "server/mcp/headers.h"
#include "server/mcp/peer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct mcp_server;

enum {
    SESSION_CALLS = 256,                   /* most calls in flight */
    SESSION_BATCHES = 8,                   /* most batches whose answers are not complete */
    SESSION_QUESTIONS = 256,               /* most requests to the client that are not answered */
    SESSION_HELD_BYTES = 64 * 1024 * 1024, /* most bytes of messages that wait for an answer */
};

struct session {
    struct sink *sink; /* borrowed: for messages that belong to no call; NULL: there is none */
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

/* Cancels the calls in flight; nothing is sent any more. */
void session_deinit(struct session *session);

/* Processes INCOMING and answers it to SINK, which is borrowed until the answer (LAST) was sent or
 * the sink was closed. HEADERS come with HTTP, NULL elsewhere; borrowed during the call. False: no
 * answer is owed, and nothing was sent. */
bool session_take(struct session *session, const struct incoming *incoming, struct sink *sink,
                  const struct mcp_headers *headers);

/* One message of LENGTH bytes, to be answered to the session's own sink. TEXT is changed in place.
 */
void session_receive(struct session *session, char *text, size_t length);

/* Answers a line that the transport had to skip because it is longer than LIMIT bytes. */
void session_refuse_line(struct session *session, size_t limit);

/* Answers the requests that only listen: the client sends nothing more, or the server stops. */
void session_conclude(struct session *session);

/* True when no answer is owed. */
bool session_is_idle(const struct session *session);

/* SLOW: the client does not read, so progress notifications are dropped. Responses are sent all the
 * same. */
void session_set_slow(struct session *session, bool slow);
