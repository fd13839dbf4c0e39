/* One connection of a program to the proxy. */
#pragma once

#include "environments/egress/destination.h"
#include "environments/egress/upstream.h"

/* For all visits. */
struct visit_rules {
    struct destinations open;
    struct upstreams upstreams;
};

/* Serves CLIENT, a socket that does not block, until either side is done; it is not closed. */
void visit_serve(int client, const struct visit_rules *rules);
