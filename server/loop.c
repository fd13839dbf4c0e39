#include "server/loop.h"

struct ev_loop *loop_new(void)
{
    return ev_loop_new(EVBACKEND_POLL | EVFLAG_NOENV);
}
