#include "server/transport/http/http_writer.h"

#include <errno.h>

enum { LARGEST_RESPONSE_BYTES = 64 * 1024 * 1024 };

void http_writer_init(struct http_writer *writer, struct http_channel *channel, size_t limit)
{
    *writer = (struct http_writer){.channel = channel, .limit = limit};
    buffer_init(&writer->unsent, limit + LARGEST_RESPONSE_BYTES);
}

void http_writer_deinit(struct http_writer *writer)
{
    buffer_deinit(&writer->unsent);
}

size_t http_writer_unsent(const struct http_writer *writer)
{
    return buffer_length(&writer->unsent);
}

/* Bytes written; 0 when the client takes none now or is gone. */
static size_t http_writer_write_parts(struct http_writer *writer, const struct iovec *parts,
                                      int count)
{
    ssize_t written = writer->channel->ops->write(writer->channel, parts, count);

    if (written >= 0)
        return (size_t)written;
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        writer->problem = "the client is gone";
    return 0;
}

/* Drops the first WRITTEN bytes of PARTS and keeps the rest. */
static void http_writer_keep_rest(struct http_writer *writer, const struct iovec *parts, int count,
                                  size_t written)
{
    struct error err = ERROR_INIT;

    for (int i = 0; i < count; i++) {
        size_t done = written < parts[i].iov_len ? written : parts[i].iov_len;

        written -= done;
        if (buffer_append(&writer->unsent, (const char *)parts[i].iov_base + done,
                          parts[i].iov_len - done, &err) < 0)
            writer->problem = "too much output not taken";
    }
}

struct buffer *http_writer_compose(struct http_writer *writer)
{
    if (!writer->problem && http_writer_unsent(writer) >= writer->limit)
        writer->problem = "too much output not taken";
    return writer->problem ? NULL : &writer->unsent;
}

void http_writer_send(struct http_writer *writer, const struct iovec *parts, int count)
{
    size_t written = 0;

    if (!http_writer_compose(writer))
        return;
    if (http_writer_unsent(writer) == 0)
        written = http_writer_write_parts(writer, parts, count);
    if (!writer->problem)
        http_writer_keep_rest(writer, parts, count, written);
}

bool http_writer_flush(struct http_writer *writer)
{
    struct iovec part = {buffer_bytes(&writer->unsent), http_writer_unsent(writer)};
    size_t written;

    if (part.iov_len == 0)
        return true;
    written = http_writer_write_parts(writer, &part, 1);
    buffer_consume(&writer->unsent, written);
    return written > 0;
}
