#include "server/transport/socket/peer.h"

#include "base/memory.h"
#include "server/transport/socket/address.h"
#include "server/transport/socket/far_end.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANYBODY "tcp" /* all TCP clients without a token */

static int identify_user(int fd, struct peer *ret, struct error *err)
{
    struct ucred credentials;
    socklen_t length = sizeof(credentials);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0)
        return error_set_errno(err, errno, "cannot tell who connects");
    if (credentials.uid != geteuid() && credentials.uid != 0)
        return error_set(err, ERROR_UNAVAILABLE, "user %u may not connect", credentials.uid);
    *ret = (struct peer){
        .family = AF_UNIX, .number = credentials.uid, .party = (uint64_t)credentials.pid};
    return 0;
}

static uint64_t peer_network_of(const struct endpoint *endpoint)
{
    uint64_t half;

    if (endpoint->any.sa_family == AF_INET)
        return endpoint->ipv4.sin_addr.s_addr;
    memcpy(&half, &endpoint->ipv6.sin6_addr, sizeof half);
    return half;
}

/* The user at the other end of FD and one more; 0 where the kernel does not tell. */
static uint64_t peer_user_of(int fd)
{
    struct far_end far_end;

    return far_end_find(fd, &far_end) == FAR_END_HELD ? (uint64_t)far_end.user + 1 : 0;
}

int peer_identify(int fd, struct peer *ret, struct error *err)
{
    struct endpoint endpoint = {.length = sizeof(endpoint.local)};

    if (getpeername(fd, &endpoint.any, &endpoint.length) < 0)
        return error_set_errno(err, errno, "cannot tell who connects");
    if (endpoint.any.sa_family == AF_UNIX)
        return identify_user(fd, ret, err);
    *ret = (struct peer){.family = endpoint.any.sa_family,
                         .number = peer_network_of(&endpoint),
                         .party = peer_user_of(fd)};
    return 0;
}

bool peer_equals(const struct peer *peer, const struct peer *other)
{
    return peer->family == other->family && peer->number == other->number;
}

bool peer_is_local(const struct peer *peer)
{
    return peer->family == AF_UNIX;
}

void peer_format_principal(const struct peer *peer, char text[static PEER_TEXT_BYTES])
{
    if (peer->family == AF_UNIX)
        snprintf(text, PEER_TEXT_BYTES, PEER_USER_PREFIX "%" PRIu64, peer->number);
    else
        snprintf(text, PEER_TEXT_BYTES, "%s", ANYBODY);
}

char *peer_own_principal(void)
{
    const struct peer self = {.family = AF_UNIX, .number = geteuid()};
    char text[PEER_TEXT_BYTES];

    peer_format_principal(&self, text);
    return memory_copy_string(text);
}

bool peer_is_anonymous(const char *principal)
{
    return strcmp(principal, ANYBODY) == 0;
}
