/* The receiver of a session's messages, and the ways to send them. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct batch;

/* The transport's side of one exchange. Over stdio and sockets there is one sink per connection;
 * over HTTP one per exchange, so that LAST == false turns the reply into an event stream. */
struct sink {
    /* Sends one complete JSON text of LENGTH bytes, without line break; borrowed. LAST: it answers
     * the message that the exchange began with. CODE: of the error in it, or ERROR_NONE. */
    void (*send)(struct sink *sink, const char *text, size_t length, bool last,
                 enum error_code code);

    /* No answer will come: the call was cancelled. May be NULL. */
    void (*close)(struct sink *sink);

    /* True while the client keeps up: it has taken the messages so far, or nearly all of them. */
    bool (*has_room)(const struct sink *sink);

    /* The connection may be closed for now; the client reconnects for the rest. May be NULL. */
    void (*release)(struct sink *sink);

    bool answers_only; /* carries only messages that are LAST */
};

/* A response; nothing in it is owned. */
struct sink_response {
    const char *id; /* JSON text, or NULL */
    const char *text;
    enum error_code code; /* of the error in it, or ERROR_NONE */
};

/* Functions that take a SINK do nothing where that is NULL. */

/* Sends ANSWER to BATCH or, where that is NULL, to SINK. */
void sink_answer(struct sink *sink, struct batch *batch, const struct sink_response *answer);

/* Answers with ERR the message ID, which does not become a call. ID may be NULL. */
void sink_refuse(struct sink *sink, struct batch *batch, const char *id, const struct error *err);

/* Sends TEXT, which is no answer. False: SINK takes nothing but answers. */
bool sink_send_aside(struct sink *sink, const char *text);

/* True when a message aside would be taken soon, and not be in the way of others. False without
 * SINK and where SINK takes nothing but answers. */
bool sink_has_room(const struct sink *sink);

/* Sends a notification aside. PARAMS is taken. */
void sink_notify(struct sink *sink, const char *method, json_t *params);

/* No answer will come. */
void sink_close(struct sink *sink);
