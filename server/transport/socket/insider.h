/* Whether a client is a script that this server runs. Such a one is not served: its calls would
 * outlive it, be approved by it, and keep it alive. */
#pragma once

#include <stdint.h>

enum insider {
    INSIDER_NO,
    INSIDER_YES,
    INSIDER_UNKNOWN, /* the process has ended or hides, so it is not served either */
};

/* Whoever knows the control groups of our runs. */
struct insider_judge {
    /* Whether the v2 control group ID is that of a run. May be NULL: that cannot be told. */
    enum insider (*judge)(const void *data, uint64_t id);
    const void *data; /* borrowed */
};

/* What the connected socket FD leads to. Unix sockets: the kernel names the process that connected.
 * TCP: the control group in which the other end was made, if JUDGE can tell, else whoever holds it
 * now, if that is on this machine. */
enum insider insider_find(int fd, const struct insider_judge *judge);
