#include "server/transport/tcp_peer.h"

#include "base/cleanup.h"
#include "server/transport/address.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>

enum { ALL_STATES = -1 };

enum presence {
    PRESENCE_UNKNOWN,
    PRESENCE_NONE,   /* there is no such socket */
    PRESENCE_ORPHAN, /* the kernel only winds it up */
    PRESENCE_HELD,
};

struct question {
    struct nlmsghdr header;
    struct inet_diag_req_v2 request;
};

union answer {
    struct nlmsghdr header;
    char bytes[4096];
};

static void set_half(const struct endpoint *endpoint, __be32 address[4], __be16 *port)
{
    if (endpoint->any.sa_family == AF_INET) {
        memcpy(address, &endpoint->ipv4.sin_addr, sizeof(endpoint->ipv4.sin_addr));
        *port = endpoint->ipv4.sin_port;
    } else {
        memcpy(address, &endpoint->ipv6.sin6_addr, sizeof(endpoint->ipv6.sin6_addr));
        *port = endpoint->ipv6.sin6_port;
    }
}

/* LENGTH is what came in. */
static enum presence read_answer(const union answer *answer, size_t length)
{
    const struct inet_diag_msg *found = NLMSG_DATA(&answer->header);
    const struct nlmsgerr *failure = NLMSG_DATA(&answer->header);

    if (!NLMSG_OK(&answer->header, (unsigned)length))
        return PRESENCE_UNKNOWN;
    if (answer->header.nlmsg_type == NLMSG_ERROR && length >= NLMSG_LENGTH(sizeof(*failure)))
        return failure->error == -ENOENT ? PRESENCE_NONE : PRESENCE_UNKNOWN;
    if (answer->header.nlmsg_type != SOCK_DIAG_BY_FAMILY || length < NLMSG_LENGTH(sizeof(*found)))
        return PRESENCE_UNKNOWN;
    return found->idiag_inode == 0 ? PRESENCE_ORPHAN : PRESENCE_HELD;
}

/* The kernel answers while it takes the question, so nothing is waited for. */
static enum presence ask(int netlink, const struct endpoint *local, const struct endpoint *remote)
{
    struct question question = {
        .header = {.nlmsg_len = sizeof(question),
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .request = {.sdiag_family = (__u8)local->any.sa_family,
                    .sdiag_protocol = IPPROTO_TCP,
                    .idiag_states = (__u32)ALL_STATES,
                    .id.idiag_cookie = {(__u32)INET_DIAG_NOCOOKIE, (__u32)INET_DIAG_NOCOOKIE}},
    };
    union answer answer;
    ssize_t length;

    set_half(local, question.request.id.idiag_src, &question.request.id.idiag_sport);
    set_half(remote, question.request.id.idiag_dst, &question.request.id.idiag_dport);
    if (send(netlink, &question, sizeof(question), MSG_DONTWAIT) < 0)
        return PRESENCE_UNKNOWN;
    length = recv(netlink, &answer, sizeof(answer), MSG_DONTWAIT);
    return length < 0 ? PRESENCE_UNKNOWN : read_answer(&answer, (size_t)length);
}

bool tcp_peer_has_closed(int fd)
{
    struct endpoint here = {.length = sizeof(here.local)};
    struct endpoint there = {.length = sizeof(there.local)};
    AUTO_CLOSE int netlink = -1;
    enum presence presence;

    if (getsockname(fd, &here.any, &here.length) < 0 ||
        getpeername(fd, &there.any, &there.length) < 0 || !endpoint_is_loopback(&there))
        return false;
    netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (netlink < 0)
        return false;
    if (ask(netlink, &here, &there) != PRESENCE_HELD) /* ours is: the kernel does not tell */
        return false;
    presence = ask(netlink, &there, &here);
    return presence == PRESENCE_NONE || presence == PRESENCE_ORPHAN;
}
