/* The event loop of the program. */
#pragma once

#include <ev.h>

/* A loop that waits by poll(2): epoll counts its descriptors against a quota of the user, and a
 * script shares our user. NULL when it cannot be made. */
static inline struct ev_loop *loop_new(void)
{
    return ev_loop_new(EVBACKEND_POLL | EVFLAG_NOENV);
}
