/* The first bytes that a program sends to an HTTP proxy: "CONNECT host:port" for a tunnel, or a
 * request for "http://host/path". Pure functions, strict; the proxy (helper/) uses them. */
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
    bool is_tunnel; /* else a request to be passed on, with the parts below */
    struct proxy_part method;
    struct proxy_part authority;
    struct proxy_part path; /* "" for "/" */
    struct proxy_part version;
    struct proxy_part fields; /* with their line breaks */
};

/* How many of the LENGTH bytes are a head; 0: it needs more; -1: they are no head with a
 * destination. */
ssize_t proxy_head_parse(const char *bytes, size_t length, struct proxy_head *ret);

/* True for a request without a body: its head is all. */
bool proxy_head_has_no_body(const struct proxy_head *head);

/* Appends to BUFFER the head for the destination or, if it is not NULL, for UPSTREAM on the way.
 * HEAD is a request to be passed on. It is the only request of its connection: later requests need
 * not be read. */
int proxy_head_pass_on(const struct proxy_head *head, const struct upstream *upstream,
                       struct buffer *buffer, struct error *err);
