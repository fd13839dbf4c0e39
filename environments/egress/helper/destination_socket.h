/* Connects to the place that a program asks for, if it is open. A name is resolved here, once, and
 * the connection goes to the address that was checked: it does not help an attacker to give another
 * address for the name later. */
#pragma once

#include "environments/egress/destination.h"
#include "environments/egress/proxy_socks.h"
#include "environments/egress/upstream.h"

/* The reason why there is no connection. */
struct destination_refusal {
    unsigned status; /* of HTTP */
    enum proxy_socks_reply reply;
    char *text; /* borrowed: SIZE bytes, for a person; without control characters */
    size_t size;
};

/* A socket that does not block and is connected to WANTED or, unless it is NULL, to UPSTREAM, which
 * is on the way to it and finds its address; owned by the caller; or -1. It blocks until then. */
int destination_socket(const struct destinations *open, const struct destination *wanted,
                       const struct upstream *upstream, struct destination_refusal *refusal);
