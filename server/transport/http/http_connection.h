/* One connection of a client that speaks HTTP/1: a request, its response, the next request.
 *
 *     HEAD       a request is awaited, or its head is coming in
 *     BODY       its body is coming in; its response may be complete already
 *     RESPONSE   the service owes the response. What comes in meanwhile is kept, up to a bound; the
 *                end of input means that the client is gone.
 *     LINGERING  nothing is served any more. The client may take what was sent, and what it sends
 *                is dropped: closing with unread input would take the last answer away from it.
 *     CLOSED     nothing happens any more
 *
 * Requests that came in early are served in order, one after the other, and a few of them at a time
 * so that other connections have their turn. All deadlines are absolute: no byte that drips in
 * moves them. A connection never frees itself: it tells its owner that it is closed, who then
 * releases it before the loop sleeps, and so tells the service that the client is gone. */
#pragma once

#include "server/transport/http/channel.h"
#include "server/transport/http/http_body.h"
#include "server/transport/http/http_exchange.h"
#include "server/transport/http/http_limits.h"
#include "server/transport/http/http_writer.h"

#include <ev.h>

enum http_connection_state {
    HTTP_CONNECTION_HEAD,
    HTTP_CONNECTION_BODY,
    HTTP_CONNECTION_RESPONSE,
    HTTP_CONNECTION_LINGERING,
    HTTP_CONNECTION_CLOSED,
};

struct http_connection;

struct http_connection_settings {
    struct ev_loop *loop;             /* borrowed */
    struct http_service *service;     /* borrowed */
    const struct http_limits *limits; /* borrowed */
    const struct peer *peer;          /* borrowed */
    const struct entrance *entrance;  /* borrowed */
    struct http_channel *channel;     /* taken */
    unsigned number;                  /* of the connection, for the log */

    /* The client has shown what it has to. False: there is no room for it. */
    bool (*admit)(struct http_connection *connection);

    /* It is CLOSED. Called once, possibly below a call to the exchange. */
    void (*closed)(struct http_connection *connection);
};

struct http_connection {
    enum http_connection_state state;
    struct http_exchange exchange;
    struct http_connection_settings settings; /* the channel in it is owned */

    /* In. */
    struct buffer input;
    size_t scanned;          /* of a head that is not whole */
    struct buffer head_text; /* of the exchange */
    struct http_body body;
    size_t dropped; /* bytes while LINGERING */
    bool is_begun;  /* HEAD: bytes of it are there, or it is the first */
    bool is_ended;  /* the client sends no more */

    /* Out. */
    struct http_writer writer;
    bool is_last; /* the connection is not kept after this response */
    bool is_admitted;
    bool is_congested; /* the service was told */

    /* Time: on clock_seconds; INFINITY while nothing is waited for. */
    double body_since;
    double read_by;
    double take_by;
    double comment_at;
    double timer_at;

    struct ev_io readable;
    struct ev_io writable;
    struct ev_timer timer;
    struct ev_timer resume; /* input or the channel has more */
};

void http_connection_init(struct http_connection *connection,
                          const struct http_connection_settings *settings);

/* Closes; the service is told when it still owed a response. Not below a call from the connection.
 */
void http_connection_deinit(struct http_connection *connection);

/* Serves no more: a response that is owed is not given, what was sent may still be taken for a
 * moment. Not below a call from the connection. */
void http_connection_stop(struct http_connection *connection);

/* For http_exchange.c: makes everything fit after something was sent. */
void http_connection_sent(struct http_connection *connection);

/* For http_exchange.c: the response is complete. */
void http_connection_responded(struct http_connection *connection);

/* For http_exchange.c: true when the connection can be kept after a response that begins now. */
bool http_connection_can_stay(const struct http_connection *connection);

void http_connection_close(struct http_connection *connection, const char *reason);
