/* The way out of a connection: output that the client does not take now is kept, up to a bound. */
#pragma once

#include "base/buffer.h"
#include "server/transport/http/channel.h"

#include <stdbool.h>
#include <stddef.h>

struct http_writer {
    struct http_channel *channel; /* borrowed */
    struct buffer unsent;
    size_t limit;        /* no more is taken when so much is unsent */
    const char *problem; /* why nothing can be sent any more; NULL: it can */
};

/* LIMIT: a single response may go beyond it. */
void http_writer_init(struct http_writer *writer, struct http_channel *channel, size_t limit);
void http_writer_deinit(struct http_writer *writer);

/* Writes PARTS, or keeps the bytes that cannot be written now. */
void http_writer_send(struct http_writer *writer, const struct iovec *parts, int count);

/* The buffer to which output for http_writer_flush is appended; NULL: too much is unsent, or
 * nothing can be sent. */
struct buffer *http_writer_compose(struct http_writer *writer);

/* Writes unsent bytes as far as the socket takes them. True: it took some, or there were none. */
bool http_writer_flush(struct http_writer *writer);

size_t http_writer_unsent(const struct http_writer *writer);
