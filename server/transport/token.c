#include "server/transport/token.h"

#include <string.h>

static bool is_visible(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return true;
}

int token_init(struct token *token, const char *text, struct error *err)
{
    size_t length = strnlen(text, TOKEN_BYTES + 1);

    if (length == 0)
        return error_set(err, ERROR_CONFIG, "the token is empty");
    if (length > TOKEN_BYTES)
        return error_set(err, ERROR_CONFIG, "the token is longer than %d bytes", TOKEN_BYTES);
    if (!is_visible(text, length))
        return error_set(err, ERROR_CONFIG,
                         "the token has a character that is not visible ASCII in it");
    *token = (struct token){.length = length};
    memcpy(token->bytes, text, length);
    return 0;
}

void token_deinit(struct token *token)
{
    explicit_bzero(token, sizeof(*token));
}

bool token_matches(const struct token *token, const char *text, size_t length)
{
    char padded[TOKEN_BYTES] = {0};
    volatile size_t difference = token->length ^ length; /* volatile: no early way out */

    memcpy(padded, text, length < TOKEN_BYTES ? length : TOKEN_BYTES);
    for (size_t i = 0; i < TOKEN_BYTES; i++)
        difference |= (unsigned char)(padded[i] ^ token->bytes[i]);
    return difference == 0;
}
