/* A service that does what the path of a request says, on a connection of its own:
 *
 *     /echo     responds with the body
 *     /fill     responds with as many bytes as the query says
 *     /refuse   responds 404 to the head
 *     /admit    is admitted first
 *     /later    is responded to by the test
 *     /stream   begins a stream of events, to which the test adds
 *     /small    takes bodies of 10 bytes
 */
#pragma once

#include "server/transport/http/http_connection.h"

enum {
    HTTP_DOUBLE_SMALL_BYTES = 10,
    HTTP_DOUBLE_TEXT_BYTES = 1024 * 1024, /* more than any response has */
};

/* The response with BODY, of LENGTH bytes. */
#define HTTP_DOUBLE_OK(LENGTH, BODY)                                                               \
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " LENGTH "\r\n\r\n" BODY

struct http_double {
    struct ev_loop *loop;
    struct http_limits limits;
    struct http_connection connection;
    int client; /* owned; non-blocking */
    bool is_closed;
    bool is_over; /* and freed */
    struct ev_prepare settle;
    struct http_channel *(*make_channel)(int fd); /* channel_new_plain, or another */
    bool is_full; /* there is no room for connections that are admitted */

    /* What the service has seen. */
    unsigned heads;
    unsigned requests;
    unsigned gone;
    unsigned drained;
    char last_body[64];
    size_t last_length;

    struct http_service service;
    struct http_exchange *waiting; /* borrowed: /later or /stream */
};

/* The defaults of the limits, to be changed before http_double_open. */
struct http_double *http_double_new(void);
void http_double_open(struct http_double *peer);
void http_double_free(struct http_double *peer);

/* Both, with the limits as they are. */
struct http_double *http_double_serve(void);

void http_double_say(struct http_double *peer, const char *text);

/* Says TEXT and waits for WANTED, and nothing else. */
void http_double_ask(struct http_double *peer, const char *text, const char *wanted);

/* What came back until the connection was closed, owned by the caller. */
char *http_double_read_to_end(struct http_double *peer);

void http_double_respond(struct http_double *peer, const char *body);
