#include "environments/process/channel.h"

#include "base/descriptors.h"
#include "base/list.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES = 1024 };

static void channel_on_frame(struct wire_reader *reader, uint32_t type, const char *data,
                             size_t length)
{
    struct channel *channel = CONTAINER_OF(reader, struct channel, reader);

    channel->message(channel, (enum control_type)type, data, length);
}

void channel_init(struct channel *channel, int fd)
{
    channel->fd = fd;
    channel->reader =
        (struct wire_reader){.protocol = &control_protocol, .frame = channel_on_frame};
}

void channel_deinit(struct channel *channel)
{
    if (channel->fd >= 0)
        close(channel->fd);
    channel->fd = -1;
    wire_reader_deinit(&channel->reader);
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
    ssize_t count = channel_receive(channel, bytes, sizeof bytes);

    if (count < 0)
        return errno == EAGAIN || errno == EINTR ? CHANNEL_DRY : CHANNEL_ENDED;
    wire_reader_feed(&channel->reader, bytes, (size_t)count);
    return count == 0 || channel->reader.state == WIRE_BROKEN ? CHANNEL_ENDED : CHANNEL_OPEN;
}

bool channel_send(struct channel *channel, const struct buffer *message, const int *descriptors,
                  size_t count)
{
    const size_t length = buffer_length(message);

    return channel->fd >= 0 && descriptors_send(channel->fd, buffer_bytes(message), length,
                                                descriptors, count) == (ssize_t)length;
}

bool channel_tell(struct channel *channel, enum control_type type, const int *descriptors,
                  size_t count)
{
    char head[WIRE_HEAD_BYTES];

    wire_put_head(head, type, 0);
    return channel->fd >= 0 &&
           descriptors_send(channel->fd, head, sizeof head, descriptors, count) == sizeof head;
}

void channel_end(struct channel *channel)
{
    if (channel->fd >= 0)
        shutdown(channel->fd, SHUT_WR);
}
