#include "server/transport/departure.h"

#include "base/cleanup.h"
#include "server/transport/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>

struct question {
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

/* A question for the socket at the other end of FD's connection. */
static bool make_question(int fd, struct question *question)
{
    struct endpoint ours = {.length = sizeof ours.local};
    struct endpoint theirs = {.length = sizeof theirs.local};

    if (getsockname(fd, &ours.any, &ours.length) < 0 ||
        getpeername(fd, &theirs.any, &theirs.length) < 0 || ours.any.sa_family == AF_UNIX)
        return false;
    *question = (struct question){
        .header = {.nlmsg_len = sizeof *question,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .request = {.sdiag_family = (__u8)ours.any.sa_family,
                    .sdiag_protocol = IPPROTO_TCP,
                    .idiag_states = ~0U,
                    .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
    };
    put_endpoint(&theirs, &question->request.id.idiag_sport, question->request.id.idiag_src);
    put_endpoint(&ours, &question->request.id.idiag_dport, question->request.id.idiag_dst);
    return true;
}

/* The kernel answers in the call that asks, so neither send nor receive waits. */
static bool ask(const struct question *question, union answer *ret)
{
    AUTO_CLOSE int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    return fd >= 0 && send(fd, question, sizeof *question, MSG_DONTWAIT) > 0 &&
           recv(fd, ret, sizeof *ret, MSG_DONTWAIT) >= (ssize_t)sizeof ret->header;
}

bool departure_is_certain(int fd)
{
    struct question question;
    struct inet_diag_msg socket_found;
    struct nlmsgerr failure;
    union answer answer;

    if (!make_question(fd, &question) || !ask(&question, &answer))
        return false;
    if (answer.header.nlmsg_type == NLMSG_ERROR) {
        memcpy(&failure, NLMSG_DATA(&answer.header), sizeof failure);
        return failure.error == -ENOENT;
    }
    if (answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return false;
    memcpy(&socket_found, NLMSG_DATA(&answer.header), sizeof socket_found);
    return socket_found.idiag_inode == 0;
}
