#include "environments/process/channel.h"

#include "base/descriptors.h"
#include "base/list.h"
#include "base/sender.h"

#include <errno.h>
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

enum channel_state channel_read(struct channel *channel)
{
    char bytes[READ_BYTES];
    ssize_t count = sender_receive(channel->fd, bytes, sizeof bytes, 0, &channel->sender);

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
