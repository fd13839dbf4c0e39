/* Whether a TCP client that has ended its input is still there to read.
 *
 * A client that closes its socket sends the same FIN as a client that only shuts down its writing
 * half, and nothing more until data is sent to it. But TCP clients are on this machine: the kernel,
 * asked for their end of the connection (sock_diag(7)), knows whether a process still holds it. */
#pragma once

#include <stdbool.h>

/* True when no process holds the other end of the TCP socket FD any more; false when a process
 * does, FD is another kind of socket, or the kernel does not tell. */
bool departure_is_certain(int fd);
