#include "base/hmac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

void hmac_sign(const unsigned char key[static HMAC_KEY_BYTES], const void *data, size_t length,
               unsigned char ret[static HMAC_BYTES])
{
    unsigned size = HMAC_BYTES;

    /* It fails only without memory, and then nothing must be signed. */
    if (!HMAC(EVP_sha256(), key, HMAC_KEY_BYTES, data, length, ret, &size))
        abort();
}

bool hmac_verify(const unsigned char key[static HMAC_KEY_BYTES], const void *data,
                 size_t data_length, const void *mac, size_t length)
{
    unsigned char right[HMAC_BYTES];

    hmac_sign(key, data, data_length, right);
    return length == HMAC_BYTES && CRYPTO_memcmp(right, mac, HMAC_BYTES) == 0;
}
