/* Connects to what a program asks for, if it is open. A name is resolved here, once, and what was
 * checked is what is connected to: who answers for the name gains nothing by answering otherwise
 * the next time. */
#pragma once

#include "environments/egress/destination.h"
#include "environments/egress/proxy_socks.h"
#include "environments/egress/upstream.h"

/* Why there is no connection. */
struct destination_refusal {
    unsigned status; /* of HTTP */
    enum proxy_socks_reply reply;
    char *text; /* borrowed: SIZE bytes, for a person; without control characters */
    size_t size;
};

/* A socket that does not block and is connected to WANTED or, unless it is NULL, to UPSTREAM, which
 * is on the way to it and finds its address; owned by the caller; or -1. It takes its time. */
int destination_socket(const struct destinations *open, const struct destination *wanted,
                       const struct upstream *upstream, struct destination_refusal *refusal);
