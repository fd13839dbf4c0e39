#include "server/transport/identity/token.h"

#include "base/ascii.h"

#include <openssl/crypto.h>
#include <string.h>

struct token token_of(const char *text, size_t length)
{
    struct digest digest;
    struct token token;

    digest_init(&digest);
    digest_add(&digest, text, length);
    digest_finish_bytes(&digest, token.digest);
    return token;
}

bool token_read_digest(const char *text, struct token *ret)
{
    struct token token;

    if (strlen(text) != 2 * sizeof token.digest)
        return false;
    for (size_t i = 0; i < sizeof token.digest; i++) {
        int high = ascii_hex_value(text[2 * i]);
        int low = ascii_hex_value(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        token.digest[i] = (unsigned char)(high << 4 | low);
    }
    *ret = token;
    return true;
}

bool token_equals(const struct token *token, const struct token *other)
{
    return CRYPTO_memcmp(token->digest, other->digest, sizeof token->digest) == 0;
}

bool token_is_word(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return length > 0;
}
