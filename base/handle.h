/* Handles: the unguessable names of the objects that a server keeps. A server that is one of
 * several replicas puts its own name before each of them, as in "b-0123...", so that every replica
 * knows where the object is. */
#pragma once

#include <stddef.h>

enum { HANDLE_REPLICA_BYTES = 16 }; /* longest name of a replica: letters and digits */

/* A new handle: DIGITS from random_digits. REPLICA: the name of this server, or NULL. Owned by the
 * caller. */
char *handle_new(const char *replica, unsigned digits);

/* Bytes of the name of the replica at the beginning of TEXT, which may be anything; 0: none. */
size_t handle_measure_replica(const char *text);

/* TEXT without that name: the unguessable part of a handle. Borrowed. */
const char *handle_secret(const char *text);
