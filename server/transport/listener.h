/* A socket that clients connect to. */
#pragma once

#include "base/list.h"
#include "server/transport/connections.h"
#include "server/transport/socket/socket.h"

#include <ev.h>

struct listener {
    struct list link;                /* the owner's */
    struct connections *connections; /* borrowed */
    const struct entrance *entrance; /* borrowed */
    int fd;                          /* owned */
    int spare;                       /* owned: given up to refuse a client when no other is left */
    struct socket_file file;         /* the file to remove at the end */
    struct ev_io acceptable;
    struct ev_timer pause; /* running: no accepting until it ends */
};

/* Accepts from FD (taken, non-blocking); FILE is removed at the end. */
struct listener *listener_new(struct connections *connections, int fd,
                              const struct socket_file *file, const struct entrance *entrance);

/* Closes and frees; takes it out of its list. */
void listener_free(struct listener *listener);
