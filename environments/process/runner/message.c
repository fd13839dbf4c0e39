/* Receives the messages of the server. */
#include "base/descriptors.h"
#include "environments/process/runner/runner.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

bool message_receive_header(int fd, struct control_header *header,
                            int descriptors[CONTROL_DESCRIPTORS])
{
    size_t received;
    ssize_t count;

    for (size_t i = 0; i < CONTROL_DESCRIPTORS; i++)
        descriptors[i] = -1;
    count = descriptors_receive(fd, header, sizeof *header, MSG_WAITALL, descriptors,
                                CONTROL_DESCRIPTORS, &received);
    return count == sizeof *header;
}

static bool message_receive(void *data, size_t length)
{
    size_t done = 0;

    while (done < length) {
        ssize_t count = recv(CONTROL_FD, (char *)data + done, length - done, 0);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        done += (size_t)count;
    }
    return true;
}

void program_receive(struct program *program, size_t length,
                     const int descriptors[CONTROL_DESCRIPTORS])
{
    program->payload = length > CONTROL_LIMIT_BYTES ? NULL : malloc(length + 1);
    if (!program->payload || !message_receive(program->payload, length) ||
        !program_parse(program, program->payload, length, descriptors))
        _exit(1);
}
