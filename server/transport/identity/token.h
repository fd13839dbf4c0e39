/* A secret that a client shows, as it is kept: by its digest. Whoever reads our memory, or a file
 * of digests, cannot come in with it; it is random, so that it cannot be guessed from one either.
 */
#pragma once

#include "base/digest.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    TOKEN_LEAST_BYTES = 16,  /* of one that is kept in clear */
    TOKEN_MOST_BYTES = 8192, /* of any that is shown: signed ones are long */
};

struct token {
    unsigned char digest[DIGEST_BYTES];
};

/* Of the LENGTH bytes of TEXT. */
struct token token_of(const char *text, size_t length);

/* Reads the 64 hexadecimal digits of a SHA-256, and nothing behind them; false when TEXT is none.
 */
bool token_read_digest(const char *text, struct token *ret);

/* True when both are the same. Takes the same time whatever they are. */
bool token_equals(const struct token *token, const struct token *other);

/* True for text that a header field can carry as one word: at least one character, all of them
 * visible ASCII. */
bool token_is_word(const char *text, size_t length);
