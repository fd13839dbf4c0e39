/* A signed token and, behind a line break, a set of keys. What is taken apart names an algorithm
 * and a key; what is verified was not made here. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "server/transport/oauth/jwt.h"
#include "server/transport/oauth/key_set.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const struct jwt *jwt)
{
    const struct jwt_rules rules = {
        .issuer = "https://issuer", .audience = "https://server/mcp", .now = 1000000};
    struct error err = ERROR_INIT;
    int status = jwt_check(jwt, &rules, &err);

    assert(jwt->alg && jwt->kid);
    assert((status < 0) == (err.code == ERROR_INVALID_REQUEST));
    (void)jwt_has_scope(jwt, "run");
}

static void verify(const struct jwt *jwt, const char *token, const char *keys)
{
    struct error err = ERROR_INIT;
    struct key_set *set = key_set_parse(keys, strlen(keys), &err);
    struct error refused = ERROR_INIT;

    if (set && key_set_verify(set, jwt, token, &refused) == 0)
        assert(strcmp(jwt->alg, "none") != 0 && jwt->alg[0] != 'H' && key_set_has(set, jwt->kid));
    key_set_free(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = memory_new(size + 1, 1);
    struct error err = ERROR_INIT;
    struct jwt jwt;
    char *keys;

    memcpy(text, data, size);
    keys = strchr(text, '\n');
    if (keys)
        *keys++ = '\0';
    if (jwt_read(&jwt, text, &err) < 0)
        return 0;
    judge(&jwt);
    if (keys)
        verify(&jwt, text, keys);
    jwt_deinit(&jwt);
    return 0;
}
