/* Whether a client is a script that this server runs. A script is not served: its calls would
 * outlive it, be approved by it, and keep it alive. */
#pragma once

#include <stdint.h>

enum insider {
    INSIDER_NO,
    INSIDER_YES,
    INSIDER_UNKNOWN, /* the process has ended or hides, so it is not served either */
};

/* A judge that knows the control groups of our runs. */
struct insider_judge {
    /* Whether the v2 control group ID belongs to a run. May be NULL: that cannot be told. */
    enum insider (*judge)(const void *data, uint64_t id);
    const void *data; /* borrowed */
};

/* Judges the client of the connected socket FD. Unix sockets: by the process that connected, which
 * the kernel names. TCP: by the control group in which the other end was made, if JUDGE can tell,
 * else by the process on this machine that holds the other end now. */
enum insider insider_find(int fd, const struct insider_judge *judge);
