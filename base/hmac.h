/* HMAC-SHA-256 (RFC 2104): a code that only a holder of the key can make. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
    HMAC_KEY_BYTES = 32,
    HMAC_BYTES = 32,
};

void hmac_sign(const unsigned char key[static HMAC_KEY_BYTES], const void *data, size_t length,
               unsigned char ret[static HMAC_BYTES]);

/* True when MAC is the code of DATA. Takes the same time wherever they differ. */
bool hmac_verify(const unsigned char key[static HMAC_KEY_BYTES], const void *data,
                 size_t data_length, const void *mac, size_t length);
