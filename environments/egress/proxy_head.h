/* What a program sends to an HTTP proxy first: "CONNECT host:port" for a tunnel, or a request for
 * "http://host/path". Pure functions, strict; the proxy (helper/) goes by them. */
#pragma once

#include "base/buffer.h"
#include "environments/egress/destination.h"
#include "environments/egress/upstream.h"

#include <sys/types.h>

enum { PROXY_HEAD_BYTES = 16 * 1024 };

/* A part of the bytes that were parsed; borrowed. */
struct proxy_part {
    const char *bytes;
    size_t length;
};

struct proxy_head {
    struct destination destination;
    bool is_tunnel; /* else a request to be passed on: the following count */
    struct proxy_part method;
    struct proxy_part authority;
    struct proxy_part path; /* "" for "/" */
    struct proxy_part version;
    struct proxy_part fields; /* with their line breaks */
};

/* How many of the LENGTH bytes are a head; 0: it needs more; -1: they will never be one that leads
 * anywhere. */
ssize_t proxy_head_parse(const char *bytes, size_t length, struct proxy_head *ret);

/* True for a request that is over where its head is. */
bool proxy_head_has_no_body(const struct proxy_head *head);

/* Appends to BUFFER what the destination, or UPSTREAM on the way to it, unless it is NULL, is to
 * see of HEAD, a request to be passed on. It is the only one of its connection: what follows it
 * need not be read. */
int proxy_head_pass_on(const struct proxy_head *head, const struct upstream *upstream,
                       struct buffer *buffer, struct error *err);
