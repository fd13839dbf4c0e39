/* The bytes of one connection, plain or in TLS, both ways. Neither way ever waits. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

struct http_channel;

struct channel_ops {
    /* As read(2) and writev(2) of a non-blocking socket, without SIGPIPE. */
    ssize_t (*read)(struct http_channel *channel, void *data, size_t size);
    ssize_t (*write)(struct http_channel *channel, const struct iovec *parts, int count);

    /* Nothing is written any more; the client sees the end behind the written bytes. */
    void (*shutdown)(struct http_channel *channel);

    /* Closes the descriptor and frees CHANNEL. */
    void (*free)(struct http_channel *channel);
};

struct http_channel {
    const struct channel_ops *ops;
    int fd;              /* owned; for watching */
    bool has_pending;    /* more can be read although `fd` may not be readable */
    bool reads_on_write; /* to go on reading, `fd` must be writable first */
};

/* A socket without anything between; FD is taken. */
struct http_channel *channel_new_plain(int fd);
