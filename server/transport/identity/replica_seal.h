/* The seal of a request that one replica forwards to another: who has sent it, which both believe
 * because they share a key. `v1.PAYLOAD.MAC`, both in base64url. It says nothing of whether the
 * request was seen before, or is recent: replicas.h. */
#pragma once

#include "base/digest.h"
#include "server/transport/identity/authority.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPLICA_NAME_BYTES = 17 };

struct replica_seal {
    char from[REPLICA_NAME_BYTES];
    char to[REPLICA_NAME_BYTES];
    char principal[AUTHORITY_PRINCIPAL_BYTES]; /* of the client */
    int64_t made;                              /* by the wall clock */
    int64_t epoch;                             /* of the sender, for replay_window.h */
    uint64_t number;
    char digest[DIGEST_TEXT_BYTES]; /* of the request, as sender and receiver see it */
};

/* The text of SEAL; owned by the caller. */
char *replica_seal_close(const unsigned char key[static DIGEST_KEY_BYTES],
                         const struct replica_seal *seal);

/* Reads TEXT. False, and nothing is written, if it was not made with KEY, or lacks a text. */
bool replica_seal_open(const unsigned char key[static DIGEST_KEY_BYTES], const char *text,
                       struct replica_seal *ret);
