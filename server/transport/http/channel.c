#include "server/transport/http/channel.h"

#include "base/memory.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t plain_read(struct http_channel *channel, void *data, size_t size)
{
    return recv(channel->fd, data, size, MSG_DONTWAIT);
}

static ssize_t plain_write(struct http_channel *channel, const struct iovec *parts, int count)
{
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)count};

    return sendmsg(channel->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void plain_shutdown(struct http_channel *channel)
{
    (void)shutdown(channel->fd, SHUT_WR);
}

static void plain_free(struct http_channel *channel)
{
    close(channel->fd);
    free(channel);
}

static const struct channel_ops plain = {
    .read = plain_read,
    .write = plain_write,
    .shutdown = plain_shutdown,
    .free = plain_free,
};

struct http_channel *channel_new_plain(int fd)
{
    struct http_channel *channel = NEW(struct http_channel);

    channel->ops = &plain;
    channel->fd = fd;
    return channel;
}
