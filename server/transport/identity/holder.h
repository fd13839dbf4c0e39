/* Whom a connection or a session counts for, so that one client's do not shut out others.
 *
 * A client that has shown a token is its principal, wherever it comes from. Any other is known by
 * its peer: a process of a user on a unix socket, a user of this machine on a loopback address,
 * else an address. */
#pragma once

#include "server/transport/identity/authority.h"
#include "server/transport/socket/peer.h"

#include <stdbool.h>

struct holder {
    char principal[AUTHORITY_PRINCIPAL_BYTES]; /* "": it has shown no token */
    struct peer peer;
};

/* PRINCIPAL: what a token says; NULL or "": there was none. */
struct holder holder_of(const struct peer *peer, const char *principal);

/* The same client. */
bool holder_is(const struct holder *holder, const struct holder *other);

/* The same client, or others of the same user or address, who may be its accomplices. */
bool holder_is_kin(const struct holder *holder, const struct holder *other);
