/* Sockets that the service manager opened for us: sd_listen_fds(3) without libsystemd. */
#pragma once

#include "base/error.h"

enum { ACTIVATION_SOCKETS = 16 }; /* most */

/* Writes the descriptors that were handed over, all of them listening stream sockets on a unix or
 * loopback address, non-blocking and close-on-exec now, and returns how many; -1 with ERR and all
 * of them closed. The variables are removed from the environment in every case, so it works once.
 */
int activation_take(int ret[static ACTIVATION_SOCKETS], struct error *err);
