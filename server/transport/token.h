/* The secret that TCP clients name in their first line. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { TOKEN_BYTES = 4096 }; /* longest */

struct token {
    char bytes[TOKEN_BYTES]; /* zero behind the end, so that every comparison takes as long */
    size_t length;
};

/* Copies TEXT, which must be 1 to TOKEN_BYTES visible ASCII characters. */
int token_init(struct token *token, const char *text, struct error *err);

/* Wipes it. */
void token_deinit(struct token *token);

/* True when the LENGTH bytes of TEXT are the token. Takes the same time whatever TOKEN is. */
bool token_matches(const struct token *token, const char *text, size_t length);
