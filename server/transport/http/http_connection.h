/* One connection of a client that speaks HTTP/1: a request, its response, the next request.
 *
 *     IDLE       nothing of a further request is there
 *     HEAD       the head of a request is coming in; in a new connection it is awaited
 *     BODY       the body is coming in
 *     REST       the response is complete already, and the rest of the body is coming in
 *     RESPONSE   the service owes the response. Input that comes meanwhile is kept, up to a bound;
 * the end of input means that the client is gone.
 *
 * Then no request is served any more, and input of the client is dropped: closing with unread input
 * would take the last answer away from it.
 *
 *     FLUSHING   the client may take what was sent
 *     FINISHING  the same, and it has ended its input
 *     LINGERING  it has taken all, and was told that nothing follows; its end is awaited
 *     STOPPING   the server stops: the client may take what was sent, for a moment
 *     CLOSED     nothing happens any more
 *
 * Requests that came in early are served in order, one after the other, and a few of them at a time
 * so that other connections have their turn. All deadlines are absolute: no byte that drips in
 * moves them. A connection never frees itself: it tells its owner that it is closed, and the owner
 * releases it before the loop sleeps, which tells the service that the client is gone. */
#pragma once

#include "server/transport/http/channel.h"
#include "server/transport/http/http_body.h"
#include "server/transport/http/http_exchange.h"
#include "server/transport/http/http_limits.h"
#include "server/transport/http/http_writer.h"

#include <ev.h>

enum http_connection_state {
    HTTP_CONNECTION_IDLE,
    HTTP_CONNECTION_HEAD,
    HTTP_CONNECTION_BODY,
    HTTP_CONNECTION_REST,
    HTTP_CONNECTION_RESPONSE,
    HTTP_CONNECTION_FLUSHING,
    HTTP_CONNECTION_FINISHING,
    HTTP_CONNECTION_LINGERING,
    HTTP_CONNECTION_STOPPING,
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

    /* The client has sent a valid request, as PRINCIPAL or, for NULL, without a token. False: there
     * is no room for it. */
    bool (*admit)(struct http_connection *connection, const char *principal);

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
    size_t dropped; /* bytes since nothing is served any more */

    /* Out. */
    struct http_writer writer;
    bool is_last; /* the connection is not kept after this response */
    bool is_admitted;
    bool is_forwarded; /* another replica sends the requests: each is admitted for its client */
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

/* Serves no more: no owed response is given; the client may take sent output for a moment. Not
 * below a call from the connection. */
void http_connection_stop(struct http_connection *connection);
