/* The other end of a loopback connection, as the kernel knows it: it is a socket of this machine,
 * too. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum far_end_state {
    FAR_END_UNKNOWN, /* another machine's, or this kernel cannot be asked */
    FAR_END_CLOSED,  /* there is no such socket, or only the kernel still holds it */
    FAR_END_HELD,
};

struct far_end {
    uid_t user;
    uint64_t inode;  /* as in "socket:[INODE]" */
    uint64_t cgroup; /* the id of the v2 control group in which it was made; 0: not known */
};

/* The other end of FD, a connected TCP socket. RET is set if it is HELD. */
enum far_end_state far_end_find(int fd, struct far_end *ret);

/* True when no process holds the other end of the TCP socket FD any more; false when a process
 * does, FD is another kind of socket, or the kernel does not tell. A client that closes its socket
 * sends the same FIN as a client that only shuts down its writing half, and nothing more until data
 * is sent to it. */
bool far_end_is_closed(int fd);
