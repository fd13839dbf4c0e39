/* What the server says. */
#include "environments/process/runner/runner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool message_receive_header(struct control_header *header, int descriptors[CONTROL_DESCRIPTORS])
{
    union {
        struct cmsghdr alignment;
        char bytes[CMSG_SPACE(CONTROL_DESCRIPTORS * sizeof *descriptors)];
    } ancillary;
    struct iovec part = {.iov_base = header, .iov_len = sizeof *header};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &ancillary,
                             .msg_controllen = sizeof ancillary.bytes};
    const struct cmsghdr *first;
    ssize_t count;

    for (size_t i = 0; i < CONTROL_DESCRIPTORS; i++)
        descriptors[i] = -1;
    do {
        count = recvmsg(CONTROL_FD, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    } while (count < 0 && errno == EINTR);
    first = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (first && first->cmsg_type == SCM_RIGHTS)
        memcpy(descriptors, CMSG_DATA(first), first->cmsg_len - CMSG_LEN(0));
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
