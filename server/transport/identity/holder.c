#include "server/transport/identity/holder.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

struct holder holder_of(const struct peer *peer, const char *principal)
{
    struct holder holder = {.peer = *peer};

    snprintf(holder.principal, sizeof holder.principal, "%s", text_or_none(principal));
    return holder;
}

bool holder_is_kin(const struct holder *holder, const struct holder *other)
{
    if (*holder->principal || *other->principal)
        return strcmp(holder->principal, other->principal) == 0;
    return peer_equals(&holder->peer, &other->peer);
}

bool holder_is(const struct holder *holder, const struct holder *other)
{
    return holder_is_kin(holder, other) &&
           (*holder->principal || holder->peer.party == other->peer.party);
}
