/* Asks a further proxy for a way to a place. */
#pragma once

#include "environments/egress/helper/destination_socket.h"
#include "environments/egress/upstream.h"

/* FAR, a socket that does not block, is connected to UPSTREAM; from now on to WANTED. -1: it is
 * not. Nothing goes through before UPSTREAM has agreed: it would take it as another request. */
int upstream_tunnel(int far, const struct upstream *upstream, const struct destination *wanted,
                    struct destination_refusal *refusal);
