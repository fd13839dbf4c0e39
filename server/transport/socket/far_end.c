#include "server/transport/socket/far_end.h"

#include "base/cleanup.h"
#include "server/transport/socket/address.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>

struct far_end_question {
    struct nlmsghdr header;
    struct inet_diag_req_v2 request;
};

union far_end_answer {
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

/* The id among the LENGTH bytes of attributes at ATTRIBUTES, or 0. */
static uint64_t far_end_read_cgroup(const char *attributes, size_t length)
{
    struct rtattr attribute;
    uint64_t id = 0;

    while (length >= sizeof attribute) {
        memcpy(&attribute, attributes, sizeof attribute);
        if (attribute.rta_len < sizeof attribute || attribute.rta_len > length)
            break;
        if (attribute.rta_type == INET_DIAG_CGROUP_ID && attribute.rta_len == RTA_LENGTH(sizeof id))
            memcpy(&id, attributes + RTA_LENGTH(0), sizeof id);
        if (RTA_ALIGN(attribute.rta_len) > length)
            break;
        attributes += RTA_ALIGN(attribute.rta_len);
        length -= RTA_ALIGN(attribute.rta_len);
    }
    return id;
}

static enum far_end_state far_end_read(const union far_end_answer *answer, size_t length,
                                       struct far_end *ret)
{
    struct inet_diag_msg found;
    struct nlmsgerr failure;

    if (answer->header.nlmsg_type == NLMSG_ERROR && length >= NLMSG_LENGTH(sizeof failure)) {
        memcpy(&failure, NLMSG_DATA(&answer->header), sizeof failure);
        return failure.error == -ENOENT ? FAR_END_CLOSED : FAR_END_UNKNOWN;
    }
    if (answer->header.nlmsg_type != SOCK_DIAG_BY_FAMILY || length < NLMSG_SPACE(sizeof found))
        return FAR_END_UNKNOWN;
    memcpy(&found, NLMSG_DATA(&answer->header), sizeof found);
    *ret = (struct far_end){
        .user = found.idiag_uid,
        .inode = found.idiag_inode,
        .cgroup = far_end_read_cgroup(answer->bytes + NLMSG_SPACE(sizeof found),
                                      length - NLMSG_SPACE(sizeof found)),
    };
    return found.idiag_inode == 0 ? FAR_END_CLOSED : FAR_END_HELD;
}

/* Asks the kernel about the end LOCAL of the connection to REMOTE. The kernel answers within send,
 * so receive does not wait. */
static enum far_end_state far_end_ask(int netlink, const struct endpoint *local,
                                      const struct endpoint *remote, struct far_end *ret)
{
    struct far_end_question question = {
        .header = {.nlmsg_len = sizeof question,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .request = {.sdiag_family = (__u8)local->any.sa_family,
                    .sdiag_protocol = IPPROTO_TCP,
                    .idiag_states = ~0U,
                    .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
    };
    union far_end_answer answer;
    ssize_t length;

    put_endpoint(local, &question.request.id.idiag_sport, question.request.id.idiag_src);
    put_endpoint(remote, &question.request.id.idiag_dport, question.request.id.idiag_dst);
    if (send(netlink, &question, sizeof question, MSG_DONTWAIT) < 0)
        return FAR_END_UNKNOWN;
    length = recv(netlink, &answer, sizeof answer, MSG_DONTWAIT);
    if (length < (ssize_t)sizeof answer.header)
        return FAR_END_UNKNOWN;
    return far_end_read(&answer, (size_t)length, ret);
}

/* One loopback end is enough: a client that connects to a loopback address can come from any of the
 * machine's own addresses. */
static bool is_local_connection(const struct endpoint *ours, const struct endpoint *theirs)
{
    return endpoint_is_loopback(ours) || endpoint_is_loopback(theirs);
}

enum far_end_state far_end_find(int fd, struct far_end *ret)
{
    struct endpoint ours = {.length = sizeof ours.local};
    struct endpoint theirs = {.length = sizeof theirs.local};
    AUTO_CLOSE int netlink = -1;

    if (getsockname(fd, &ours.any, &ours.length) < 0 ||
        getpeername(fd, &theirs.any, &theirs.length) < 0 || !is_local_connection(&ours, &theirs))
        return FAR_END_UNKNOWN;
    netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    /* A kernel without this interface does not find our own end either. */
    if (netlink < 0 || far_end_ask(netlink, &ours, &theirs, ret) != FAR_END_HELD)
        return FAR_END_UNKNOWN;
    return far_end_ask(netlink, &theirs, &ours, ret);
}

bool far_end_is_closed(int fd)
{
    struct far_end ignored;

    return far_end_find(fd, &ignored) == FAR_END_CLOSED;
}
