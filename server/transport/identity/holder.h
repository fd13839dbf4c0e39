/* The client that a connection or a session counts for, so that no client shuts out others.
 *
 * A client that has shown a token is its principal, wherever it comes from. Any other client is
 * known by its peer: a process of a user on a unix socket, a user of this machine on a loopback
 * address, else an address. */
#pragma once

#include "server/transport/identity/authority.h"
#include "server/transport/socket/peer.h"

#include <stdbool.h>

struct holder {
    char principal[AUTHORITY_PRINCIPAL_BYTES]; /* "": it has shown no token */
    struct peer peer;
};

/* PRINCIPAL: the owner of the token; NULL or "": there was none. */
struct holder holder_of(const struct peer *peer, const char *principal);

/* True for the same client. */
bool holder_is(const struct holder *holder, const struct holder *other);

/* True for the same client, and for clients of the same user or address, which may be its
 * accomplices. */
bool holder_is_kin(const struct holder *holder, const struct holder *other);
