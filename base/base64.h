/* Base64 (RFC 4648), strict: only text that base64_encode() could have produced is decoded. */
#pragma once

#include <stddef.h>

enum base64_alphabet {
    BASE64_STANDARD, /* + and /, padded */
    BASE64_URL,      /* - and _, not padded */
};

/* LENGTH bytes of DATA as text. Owned by the caller. */
char *base64_encode(enum base64_alphabet alphabet, const void *data, size_t length);

/* The bytes that LENGTH characters of TEXT stand for, with a NUL behind them; NULL when they are
 * not base64. Owned by the caller. */
char *base64_decode(enum base64_alphabet alphabet, const char *text, size_t length,
                    size_t *ret_length);
