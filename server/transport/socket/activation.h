/* Sockets that the service manager opened for us: sd_listen_fds_with_names(3) without libsystemd.
 *
 * The name of a socket (FileDescriptorName=) says what is spoken there: `http`, `https`, or lines
 * of messages at a socket of any other name. */
#pragma once

#include "base/error.h"
#include "server/transport/socket/address.h"

enum { ACTIVATION_SOCKETS = 16 }; /* most */

struct activation_socket {
    int fd;
    struct endpoint endpoint; /* where it listens */
    struct address address;   /* the protocol: of kind HTTP or HTTPS with a path, or SYSTEMD */
};

/* Writes the sockets that were handed over, and returns how many; -1 with ERR and all of them
 * closed. They are listening stream sockets, non-blocking and close-on-exec now. Other machines
 * reach none but those that speak HTTPS. The variables are removed from the environment in every
 * case, so it works once. */
int activation_take(struct activation_socket ret[static ACTIVATION_SOCKETS], struct error *err);
