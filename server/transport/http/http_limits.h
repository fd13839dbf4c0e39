/* How much a client that speaks HTTP may have us keep, and how long it may take. */
#pragma once

#include <stddef.h>

struct http_limits {
    double head_seconds; /* for a whole head, from accepting or from its first byte */
    double idle_seconds; /* between a response and the next request */
    double body_seconds;
    double body_grace_seconds;    /* from then on ... */
    double body_bytes_per_second; /* ... at least so many */
    double stall_seconds;         /* a client that takes none of its output for so long is closed */
    double comment_seconds;       /* a stream of events is not silent for longer */
    double linger_seconds;
    size_t linger_bytes;
    size_t body_bytes;
    size_t read_ahead_bytes; /* of further requests while one is served */
    size_t congested_bytes;  /* unsent: no further request, and no event that can be left out */
    size_t unsent_bytes;     /* unsent: the client is closed when there is more to send */
};
