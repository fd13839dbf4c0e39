/* SHA-256 (FIPS 180-4), fed piece by piece. A digest of a thing's ingredients is its name, by which
 * it is found again. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
    DIGEST_BYTES = 32,
    DIGEST_TEXT_BYTES = 65, /* 64 hexadecimal digits and a NUL */
    DIGEST_KEY_BYTES = 32,
};

/* It holds memory from digest_init to digest_finish, which must follow. */
struct digest {
    struct evp_md_ctx_st *context; /* owned */
};

void digest_init(struct digest *digest);
void digest_add(struct digest *digest, const void *data, size_t length);

/* STRING and its NUL, so that "ab", "c" is not "a", "bc". NULL is different from "". */
void digest_add_string(struct digest *digest, const char *string);

/* Ends DIGEST and writes it in hexadecimal. Only digest_init may follow. */
void digest_finish(struct digest *digest, char ret_text[DIGEST_TEXT_BYTES]);

/* The same as digest_finish, in bytes. */
void digest_finish_bytes(struct digest *digest, unsigned char ret_bytes[DIGEST_BYTES]);

/* The digest of DATA that only a holder of KEY can make: HMAC-SHA-256 (RFC 2104). */
void digest_sign(const unsigned char key[static DIGEST_KEY_BYTES], const void *data, size_t length,
                 unsigned char ret[static DIGEST_BYTES]);

/* True when the LENGTH bytes of SIGNATURE are what digest_sign makes of DATA. Takes the same time
 * wherever they differ. */
bool digest_verify(const unsigned char key[static DIGEST_KEY_BYTES], const void *data,
                   size_t data_length, const void *signature, size_t length);
