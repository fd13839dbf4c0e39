/* Clients that are sent away before they are served, and the messages that they get in either
 * framing. */
#pragma once

#include "server/transport/socket/insider.h"

struct entrance;

struct dismissal {
    const char *reason; /* in the metrics */
    const char *line;   /* a JSON-RPC message */
    const char *http;   /* a response */
};

extern const struct dismissal dismissal_no_room;

/* The dismissal of a client that is, or may be, a script of ours. */
const struct dismissal *dismissal_of_insider(enum insider insider);

/* Tells the client at FD, in the framing of ENTRANCE but never in TLS, and closes FD (taken). */
void dismissal_carry_out(const struct dismissal *dismissal, int fd,
                         const struct entrance *entrance);
