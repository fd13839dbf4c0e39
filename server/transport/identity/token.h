/* A secret that a client shows, as it is kept: by its digest. A reader of our memory, or of a file
 * of digests, cannot come in with a digest; and since tokens are random, nobody can guess a token
 * from its digest. */
#pragma once

#include "base/digest.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    TOKEN_LEAST_BYTES = 16,  /* of a token that is kept in clear */
    TOKEN_MOST_BYTES = 8192, /* of any token that is shown: signed tokens are long */
};

struct token {
    unsigned char digest[DIGEST_BYTES];
};

/* The token of the LENGTH bytes of TEXT. */
struct token token_of(const char *text, size_t length);

/* Reads TEXT, the 64 hexadecimal digits of a SHA-256 alone; false when it is anything else. */
bool token_read_digest(const char *text, struct token *ret);

/* True when both are the same. Takes the same time for all tokens. */
bool token_equals(const struct token *token, const struct token *other);

/* True for text that a header field can carry as one word: at least one character, all of them
 * visible ASCII. */
bool token_is_word(const char *text, size_t length);
