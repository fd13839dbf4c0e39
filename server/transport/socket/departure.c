#include "server/transport/socket/departure.h"

#include "base/cleanup.h"
#include "server/transport/socket/address.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>

/* What the kernel says about a socket. */
enum holder {
    HOLDER_UNKNOWN,
    HOLDER_NONE, /* there is no such socket, or only the kernel still holds it */
    HOLDER_SOMEBODY,
};

struct departure_question {
    struct nlmsghdr header;
    struct inet_diag_req_v2 request;
};

union answer {
    struct nlmsghdr header;
    char bytes[8192];
};

static void put_endpoint(const struct endpoint *endpoint, __be16 *port, __be32 *address)
{
    if (endpoint->any.sa_family == AF_INET) {
        *port = endpoint->ipv4.sin_port;
        address[0] = endpoint->ipv4.sin_addr.s_addr;
        return;
    }
    *port = endpoint->ipv6.sin6_port;
    memcpy(address, &endpoint->ipv6.sin6_addr, sizeof endpoint->ipv6.sin6_addr);
}

static enum holder read_answer(const union answer *answer, size_t length)
{
    struct inet_diag_msg found;
    struct nlmsgerr failure;

    if (answer->header.nlmsg_type == NLMSG_ERROR && length >= NLMSG_LENGTH(sizeof failure)) {
        memcpy(&failure, NLMSG_DATA(&answer->header), sizeof failure);
        return failure.error == -ENOENT ? HOLDER_NONE : HOLDER_UNKNOWN;
    }
    if (answer->header.nlmsg_type != SOCK_DIAG_BY_FAMILY || length < NLMSG_LENGTH(sizeof found))
        return HOLDER_UNKNOWN;
    memcpy(&found, NLMSG_DATA(&answer->header), sizeof found);
    return found.idiag_inode == 0 ? HOLDER_NONE : HOLDER_SOMEBODY;
}

/* Asks the kernel who holds the end LOCAL of the connection to REMOTE. The kernel answers within
 * send, so receive does not wait. */
static enum holder departure_ask(int netlink, const struct endpoint *local,
                                 const struct endpoint *remote)
{
    struct departure_question question = {
        .header = {.nlmsg_len = sizeof question,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .request = {.sdiag_family = (__u8)local->any.sa_family,
                    .sdiag_protocol = IPPROTO_TCP,
                    .idiag_states = ~0U,
                    .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
    };
    union answer answer;
    ssize_t length;

    put_endpoint(local, &question.request.id.idiag_sport, question.request.id.idiag_src);
    put_endpoint(remote, &question.request.id.idiag_dport, question.request.id.idiag_dst);
    if (send(netlink, &question, sizeof question, MSG_DONTWAIT) < 0)
        return HOLDER_UNKNOWN;
    length = recv(netlink, &answer, sizeof answer, MSG_DONTWAIT);
    if (length < (ssize_t)sizeof answer.header)
        return HOLDER_UNKNOWN;
    return read_answer(&answer, (size_t)length);
}

bool departure_is_certain(int fd)
{
    struct endpoint ours = {.length = sizeof ours.local};
    struct endpoint theirs = {.length = sizeof theirs.local};
    AUTO_CLOSE int netlink = -1;

    if (getsockname(fd, &ours.any, &ours.length) < 0 ||
        getpeername(fd, &theirs.any, &theirs.length) < 0 || !endpoint_is_loopback(&theirs))
        return false;
    netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    /* A kernel without this interface does not find our own end either. */
    return netlink >= 0 && departure_ask(netlink, &ours, &theirs) == HOLDER_SOMEBODY &&
           departure_ask(netlink, &theirs, &ours) == HOLDER_NONE;
}
