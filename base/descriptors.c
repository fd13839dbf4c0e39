#include "base/descriptors.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union ancillary {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(DESCRIPTORS_BESIDE * sizeof(int))];
};

ssize_t descriptors_send(int socket, const void *data, size_t length, const int *descriptors,
                         size_t count)
{
    const size_t size = count * sizeof *descriptors;
    union ancillary ancillary = {
        .head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(size)}};
    struct iovec part = {.iov_base = (void *)data, .iov_len = length}; /* only read */
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    assert(count <= DESCRIPTORS_BESIDE);
    if (count > 0) {
        memcpy(CMSG_DATA(&ancillary.head), descriptors, size);
        message.msg_control = &ancillary;
        message.msg_controllen = CMSG_SPACE(size);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t descriptors_receive(int socket, void *data, size_t length, int flags, int *descriptors,
                            size_t limit, size_t *ret_count)
{
    union ancillary ancillary;
    struct iovec part = {.iov_base = data, .iov_len = length};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &ancillary,
                             .msg_controllen = CMSG_SPACE(limit * sizeof *descriptors)};
    const struct cmsghdr *first;
    ssize_t received;

    assert(limit <= DESCRIPTORS_BESIDE);
    *ret_count = 0;
    do {
        received = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    } while (received < 0 && errno == EINTR);
    first = received > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (first && first->cmsg_type == SCM_RIGHTS) {
        *ret_count = (first->cmsg_len - CMSG_LEN(0)) / sizeof *descriptors;
        memcpy(descriptors, CMSG_DATA(first), *ret_count * sizeof *descriptors);
    }
    if (received < 0 || !(message.msg_flags & MSG_CTRUNC))
        return received;
    while (*ret_count > 0)
        close(descriptors[--*ret_count]);
    errno = EMFILE;
    return -1;
}
