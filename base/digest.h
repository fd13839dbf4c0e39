/* SHA-256 (FIPS 180-4) of what is told piece by piece: names for things that are found again by
 * what they were made from. */
#pragma once

#include <stddef.h>

enum {
    DIGEST_BYTES = 32,
    DIGEST_TEXT_BYTES = 65, /* 64 hexadecimal digits and a NUL */
};

/* Between digest_init and digest_finish, which must follow, it holds memory. */
struct digest {
    struct evp_md_ctx_st *context; /* owned */
};

void digest_init(struct digest *digest);
void digest_add(struct digest *digest, const void *data, size_t length);

/* STRING and its NUL, so that "ab", "c" is not "a", "bc". NULL is different from "". */
void digest_add_string(struct digest *digest, const char *string);

/* Ends DIGEST, which has to be begun anew after it, and says it in hexadecimal. */
void digest_finish(struct digest *digest, char ret_text[DIGEST_TEXT_BYTES]);

/* The same, but says it in bytes. */
void digest_finish_bytes(struct digest *digest, unsigned char ret_bytes[DIGEST_BYTES]);
