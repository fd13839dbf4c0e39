/* The client on the other side of a socket. */
#pragma once

#include "base/error.h"
#include "server/transport/socket/insider.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { PEER_TEXT_BYTES = 32 };

#define PEER_USER_PREFIX "uid-"

struct peer {
    sa_family_t family;
    uint64_t number; /* AF_UNIX: uid; AF_INET: address; AF_INET6: the upper half of it, a network
                        whose addresses all belong to the same client */
    uint64_t party;  /* a part of `number`: AF_UNIX: the process; a loopback address: the user, and
                        one more; 0: not known */
    enum insider insider;
};

/* The peer of the connected socket FD. Fails for a unix socket whose other end belongs to another
 * user than ours or root. */
int peer_identify(int fd, struct peer *ret, struct error *err);

/* True when their families and numbers are equal, whatever their PARTY. */
bool peer_equals(const struct peer *peer, const struct peer *other);

/* True for a process of our user, or of root, on this machine: by a Unix socket or our standard
 * input. */
bool peer_is_local(const struct peer *peer);

/* The name that keeps the directories and tasks of peers apart: "uid-1000", or "tcp". */
void peer_format_principal(const struct peer *peer, char text[static PEER_TEXT_BYTES]);

/* That name of our own user, as whom commands run their scripts, too. Owned by the caller. */
char *peer_own_principal(void);

/* True for the name that all unidentified clients share. */
bool peer_is_anonymous(const char *principal);
