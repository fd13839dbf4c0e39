/* OpenSSL fails here only when memory runs out, which ends the program as in memory.h. */
#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void digest_must(int succeeded)
{
    if (succeeded != 1)
        abort();
}

void digest_init(struct digest *digest)
{
    digest->context = EVP_MD_CTX_new();
    digest_must(digest->context != NULL);
    digest_must(EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL));
}

void digest_add(struct digest *digest, const void *data, size_t length)
{
    digest_must(EVP_DigestUpdate(digest->context, data, length));
}

void digest_add_string(struct digest *digest, const char *string)
{
    digest_add(digest, string ? "+" : "-", 1);
    if (string)
        digest_add(digest, string, strlen(string) + 1);
}

void digest_finish_bytes(struct digest *digest, unsigned char ret_bytes[DIGEST_BYTES])
{
    digest_must(EVP_DigestFinal_ex(digest->context, ret_bytes, NULL));
    EVP_MD_CTX_free(digest->context);
    digest->context = NULL;
}

void digest_finish(struct digest *digest, char ret_text[DIGEST_TEXT_BYTES])
{
    unsigned char bytes[DIGEST_BYTES];

    digest_finish_bytes(digest, bytes);
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        snprintf(ret_text + 2 * i, 3, "%02x", bytes[i]);
}

void digest_sign(const unsigned char key[static DIGEST_KEY_BYTES], const void *data, size_t length,
                 unsigned char ret[static DIGEST_BYTES])
{
    unsigned size = DIGEST_BYTES;

    digest_must(HMAC(EVP_sha256(), key, DIGEST_KEY_BYTES, data, length, ret, &size) != NULL);
}

bool digest_verify(const unsigned char key[static DIGEST_KEY_BYTES], const void *data,
                   size_t data_length, const void *signature, size_t length)
{
    unsigned char right[DIGEST_BYTES];

    digest_sign(key, data, data_length, right);
    return length == DIGEST_BYTES && CRYPTO_memcmp(right, signature, DIGEST_BYTES) == 0;
}
