#include "server/transport/http/http_body.h"

#include <assert.h>
#include <string.h>

void http_body_init(struct http_body *body)
{
    *body = (struct http_body){0};
    buffer_init(&body->bytes, 1);
    http_chunks_init(&body->chunks);
}

void http_body_deinit(struct http_body *body)
{
    buffer_deinit(&body->bytes);
    http_chunks_deinit(&body->chunks);
}

void http_body_clear(struct http_body *body)
{
    buffer_consume(&body->bytes, buffer_length(&body->bytes));
}

void http_body_begin(struct http_body *body, const struct http_head *head, size_t limit)
{
    body->bytes.limit = limit + 1; /* and NUL */
    body->received = 0;
    body->limit = limit;
    body->is_dropped = false;
    body->is_chunked = head->is_chunked;
    body->left = head->content_length;
    if (head->is_chunked) {
        http_chunks_deinit(&body->chunks);
        http_chunks_init(&body->chunks);
    }
}

void http_body_drop(struct http_body *body)
{
    body->is_dropped = true;
    body->limit = SIZE_MAX;
    buffer_deinit(&body->bytes);
}

/* False beyond the limit. */
static bool http_body_keep(struct http_body *body, const char *bytes, size_t length)
{
    struct error err = ERROR_INIT;

    if (body->limit - body->received < length)
        return false;
    body->received += length;
    return body->is_dropped || buffer_append(&body->bytes, bytes, length, &err) == 0;
}

static enum http_body_state feed_sized(struct http_body *body, const char *bytes, size_t length,
                                       size_t *ret_used)
{
    *ret_used = body->left < length ? (size_t)body->left : length;
    if (!http_body_keep(body, bytes, *ret_used))
        return HTTP_BODY_TOO_LARGE;
    body->left -= *ret_used;
    return body->left == 0 ? HTTP_BODY_COMPLETE : HTTP_BODY_PARTIAL;
}

static enum http_body_state feed_chunked(struct http_body *body, const char *bytes, size_t length,
                                         size_t *ret_used)
{
    struct http_chunks *chunks = &body->chunks;
    size_t piece;

    *ret_used = 0;
    while (*ret_used < length && chunks->state < HTTP_CHUNKS_COMPLETE) {
        *ret_used += http_chunks_feed(chunks, bytes + *ret_used, length - *ret_used, &piece);
        if (!http_body_keep(body, bytes + *ret_used - piece, piece) ||
            (chunks->state == HTTP_CHUNKS_DATA && chunks->left > body->limit - body->received))
            return HTTP_BODY_TOO_LARGE;
    }
    if (chunks->state == HTTP_CHUNKS_BAD)
        return HTTP_BODY_BAD;
    return chunks->state == HTTP_CHUNKS_COMPLETE ? HTTP_BODY_COMPLETE : HTTP_BODY_PARTIAL;
}

static void http_body_terminate(struct http_body *body)
{
    struct error err = ERROR_INIT;
    char *end = buffer_reserve(&body->bytes, 1, &err);

    assert(end);
    *end = '\0';
}

enum http_body_state http_body_feed(struct http_body *body, const char *bytes, size_t length,
                                    size_t *ret_used)
{
    enum http_body_state state = body->is_chunked ? feed_chunked(body, bytes, length, ret_used)
                                                  : feed_sized(body, bytes, length, ret_used);

    if (state == HTTP_BODY_COMPLETE && !body->is_dropped)
        http_body_terminate(body);
    return state;
}
