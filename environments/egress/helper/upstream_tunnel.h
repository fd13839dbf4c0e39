/* Asks a further proxy for a way to a place. */
#pragma once

#include "environments/egress/helper/destination_socket.h"
#include "environments/egress/upstream.h"

/* Makes a tunnel to WANTED of FAR, a socket that does not block and is connected to UPSTREAM. -1:
 * it fails. Nothing may be passed on before UPSTREAM has agreed: it would take the bytes for
 * another request. */
int upstream_tunnel(int far, const struct upstream *upstream, const struct destination *wanted,
                    struct destination_refusal *refusal);
