/* One request and its response, and the functions by which a service handles it.
 *
 *     head ----> request ----> http_respond
 *      |            |     `--> http_stream_begin, http_stream_send..., http_stream_end
 *      |            `--------> gone
 *      `--> http_respond, gone
 *
 * An exchange is embedded in its connection, which uses it again for the next request once the
 * response is complete. A response that cannot be written is no concern of the service: it is told
 * that the client is gone from the loop, never below a call of its own, and not at all once it has
 * completed the response. */
#pragma once

#include "server/transport/http/http_head.h"

#include <stdbool.h>
#include <stddef.h>

struct entrance;
struct peer;

struct http_exchange {
    struct http_head head;
    const struct peer *peer;         /* borrowed: the client */
    const struct entrance *entrance; /* borrowed: where it came in */
    size_t body_limit;               /* may be changed by `head`; a longer body is answered 413 */
    char *body;                      /* may be changed in place; ends in NUL */
    size_t body_length;
    void *data; /* the service's own; NULL at first */

    /* Private. */
    bool is_told;   /* the service knows of it and is owed `gone` until the response is complete */
    bool is_stream; /* its response has begun */
};

/* A service answers requests. An exchange is valid until its response is complete or `gone` was
 * called. All are called from the loop. */
struct http_service {
    /* The head is there. Respond, and the body is not waited for; or return. */
    void (*head)(struct http_service *service, struct http_exchange *exchange);

    /* The body is there, too. Respond now or later. */
    void (*request)(struct http_service *service, struct http_exchange *exchange);

    /* The client is gone, or the exchange has been answered by the connection. */
    void (*gone)(struct http_service *service, struct http_exchange *exchange);

    /* The client takes events again after http_stream_send had said that it does not. May be NULL.
     */
    void (*drained)(struct http_service *service, struct http_exchange *exchange);
};

/* As http_head_find. */
const char *http_exchange_field(const struct http_exchange *exchange, const char *name,
                                unsigned *ret_count);

/* The client has sent a valid request, as PRINCIPAL if it has shown a token, else NULL. Until then
 * its connection has a place among the few for strangers; the oldest stranger is closed when
 * another comes. False: this client has too many connections, and has been told. */
bool http_exchange_admit(struct http_exchange *exchange, const char *principal);

/* The same for a request of PRINCIPAL that another replica has forwarded. Its connection counts for
 * another client with the next one, and for nobody between them. */
bool http_exchange_admit_forwarded(struct http_exchange *exchange, const char *principal);

/* The whole response. FIELDS: further lines, "Name: value\r\n" each, or "". CONTENT_TYPE: NULL
 * where there is no body. The arguments are copied. */
void http_respond(struct http_exchange *exchange, unsigned status, const char *fields,
                  const char *content_type, const char *body, size_t length);

/* The same with a JSON-RPC error without an id. MESSAGE: a sentence without characters that JSON
 * escapes. */
void http_refuse(struct http_exchange *exchange, unsigned status, const char *fields, int code,
                 const char *message);

/* The response is a stream of events, status 200. A client that hears nothing for a while gets a
 * comment, so that both sides learn of a connection that is dead. */
void http_stream_begin(struct http_exchange *exchange, const char *fields);

/* An event. ID, EVENT: one line, or NULL; DATA: a line break in it makes another line of data.
 * False: too much is untaken; optional messages should be left out until `drained`. A client that
 * still leaves more untaken is closed. */
bool http_stream_send(struct http_exchange *exchange, const char *id, const char *event,
                      const char *data, size_t length);

/* The same with EVENTS that are written out, LENGTH bytes that end in an empty line. */
bool http_stream_pass(struct http_exchange *exchange, const char *events, size_t length);

/* The same without data; says how long to wait before coming back for the events after ID. */
bool http_stream_send_retry(struct http_exchange *exchange, const char *id, unsigned milliseconds);

/* The response is complete. */
void http_stream_end(struct http_exchange *exchange);

/* For http_connection.c: sends a comment, so that a stream of events is not silent. */
void http_stream_comment(struct http_exchange *exchange);

/* The response will not be completed: the connection is closed, without `gone`. */
void http_exchange_abort(struct http_exchange *exchange);
