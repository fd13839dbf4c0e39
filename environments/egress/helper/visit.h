/* One connection of a program to the proxy. */
#pragma once

#include "environments/egress/destination.h"

/* Serves CLIENT, a socket that does not block, until either side is done; it is not closed. */
void visit_serve(int client, const struct destinations *open);
