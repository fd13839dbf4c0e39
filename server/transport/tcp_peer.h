/* Whether the other end of a TCP connection over loopback is still held by anybody.
 *
 * TCP itself cannot say: close and shutdown(SHUT_WR) send the same. But the other end is a socket
 * of this machine, and the kernel tells of every socket whether a file still belongs to it. */
#pragma once

#include <stdbool.h>

/* True when the peer of FD has closed its socket; false while it has not, for sockets of other
 * families, and where the kernel does not tell (no sock_diag, or no netlink allowed). */
bool tcp_peer_has_closed(int fd);
