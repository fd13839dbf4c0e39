/* The server's end of a control channel: messages in, a job out. */
#pragma once

#include "base/buffer.h"
#include "base/wire_reader.h"
#include "environments/process/control.h"

struct channel {
    int fd;         /* owned; -1: closed */
    int32_t sender; /* pid of the sender of the message, if the socket has SO_PASSCRED */

    /* One message; PAYLOAD is borrowed until the call returns. */
    void (*message)(struct channel *channel, enum control_type type, const char *payload,
                    size_t length);

    /* Private. */
    struct wire_reader reader;
};

/* Takes FD, which does not block. The callbacks are set already. */
void channel_init(struct channel *channel, int fd);
void channel_deinit(struct channel *channel);

enum channel_state {
    CHANNEL_OPEN,
    CHANNEL_DRY, /* open, and nothing is there to be read now */
    CHANNEL_ENDED,
};

/* Reads once and hands over the messages that are complete. */
enum channel_state channel_read(struct channel *channel);

/* Sends a MESSAGE, which has its head, with COUNT descriptors (borrowed) beside it, at most
 * CONTROL_DESCRIPTORS; false when that cannot be done at once. */
bool channel_send(struct channel *channel, const struct buffer *message, const int *descriptors,
                  size_t count);

/* Sends a message that has only a TYPE, likewise. */
bool channel_tell(struct channel *channel, enum control_type type, const int *descriptors,
                  size_t count);

/* Ends the lifeline of the other side. Its last messages can still be read. */
void channel_end(struct channel *channel);
