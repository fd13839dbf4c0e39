#include "environments/process/channel.h"

#include "base/descriptors.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READ_BYTES = 1024,
    INCOMING_BYTES = CONTROL_STACKS_BYTES + 4 * 1024, /* the runner's other messages are short */
};

void channel_init(struct channel *channel, int fd)
{
    channel->fd = fd;
    buffer_init(&channel->incoming, INCOMING_BYTES);
}

void channel_deinit(struct channel *channel)
{
    if (channel->fd >= 0)
        close(channel->fd);
    channel->fd = -1;
    buffer_deinit(&channel->incoming);
}

/* Hands over every complete message. False when a header is impossible. */
static bool hand_over(struct channel *channel)
{
    struct control_header header;

    while (buffer_length(&channel->incoming) >= sizeof header) {
        memcpy(&header, buffer_bytes(&channel->incoming), sizeof header);
        if (header.length > INCOMING_BYTES - sizeof header)
            return false;
        if (buffer_length(&channel->incoming) < sizeof header + header.length)
            break;
        channel->message(channel, (enum control_type)header.type,
                         buffer_bytes(&channel->incoming) + sizeof header, header.length);
        buffer_consume(&channel->incoming, sizeof header + header.length);
    }
    return true;
}

/* Receives once, from one sender. */
static ssize_t channel_receive(struct channel *channel, char *bytes, size_t size)
{
    union {
        struct cmsghdr alignment;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } ancillary;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &ancillary,
                             .msg_controllen = sizeof ancillary.bytes};
    ssize_t count = recvmsg(channel->fd, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *first = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    struct ucred who;

    if (first && first->cmsg_type == SCM_CREDENTIALS) {
        memcpy(&who, CMSG_DATA(first), sizeof who);
        channel->sender = who.pid;
    }
    return count;
}

enum channel_state channel_read(struct channel *channel)
{
    char bytes[READ_BYTES];
    struct error ignored = ERROR_INIT;
    ssize_t count = channel_receive(channel, bytes, sizeof bytes);

    if (count < 0)
        return errno == EAGAIN || errno == EINTR ? CHANNEL_DRY : CHANNEL_ENDED;
    if (count == 0 || buffer_append(&channel->incoming, bytes, (size_t)count, &ignored) < 0 ||
        !hand_over(channel))
        return CHANNEL_ENDED;
    return CHANNEL_OPEN;
}

bool channel_send_with(struct channel *channel, const void *message, size_t length,
                       const int *descriptors, size_t count)
{
    return channel->fd >= 0 &&
           descriptors_send(channel->fd, message, length, descriptors, count) == (ssize_t)length;
}

bool channel_send(struct channel *channel, const void *message, size_t length)
{
    return channel_send_with(channel, message, length, NULL, 0);
}

void channel_end(struct channel *channel)
{
    if (channel->fd >= 0)
        shutdown(channel->fd, SHUT_WR);
}
