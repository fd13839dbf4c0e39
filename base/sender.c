#include "base/sender.h"

#include <string.h>
#include <sys/socket.h>

int sender_ask(int socket)
{
    const int on = 1;

    return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
}

/* There is room for the credentials alone: the kernel closes descriptors that do not fit. */
ssize_t sender_receive(int socket, void *data, size_t length, int flags, pid_t *ret)
{
    union {
        struct cmsghdr alignment;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } ancillary;
    struct iovec part = {.iov_base = data, .iov_len = length};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &ancillary,
                             .msg_controllen = sizeof ancillary.bytes};
    ssize_t count = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *first = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    struct ucred who;

    if (first && first->cmsg_type == SCM_CREDENTIALS) {
        memcpy(&who, CMSG_DATA(first), sizeof who);
        *ret = who.pid;
    }
    return count;
}
