/* The body of a request as it comes in: sized or chunked, kept or, when nobody wants it, dropped.
 */
#pragma once

#include "server/transport/http/http_chunks.h"
#include "server/transport/http/http_head.h"

enum http_body_state {
    HTTP_BODY_PARTIAL,
    HTTP_BODY_COMPLETE,
    HTTP_BODY_BAD,
    HTTP_BODY_TOO_LARGE,
};

struct http_body {
    struct buffer bytes; /* ends in NUL once COMPLETE */
    uint64_t received;
    size_t limit;

    /* Private. */
    bool is_chunked;
    bool is_dropped;
    uint64_t left; /* bytes of a sized body to come */
    struct http_chunks chunks;
};

void http_body_init(struct http_body *body);
void http_body_deinit(struct http_body *body);

/* For the next request, without bytes of the last. LIMIT: TOO_LARGE beyond it. */
void http_body_begin(struct http_body *body, const struct http_head *head, size_t limit);

/* Gives up the bytes that were kept. */
void http_body_clear(struct http_body *body);

/* Bytes of it that come from now on are only counted. */
void http_body_drop(struct http_body *body);

/* Takes the first *RET_USED bytes of BYTES, which belong to it. */
enum http_body_state http_body_feed(struct http_body *body, const char *bytes, size_t length,
                                    size_t *ret_used);
