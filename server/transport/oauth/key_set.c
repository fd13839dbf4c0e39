#include "server/transport/oauth/key_set.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/transport/oauth/jwt.h"

#include <cjose/cjose.h>
#include <stdlib.h>
#include <string.h>

enum {
    RSA_LEAST_BITS = 2048,
    RSA_MOST_BITS = 16384,
    BITS_PER_BYTE = 8,
};

/* The algorithms that are allowed. Shared secrets (HS256) and "none" are not. */
static const struct algorithm {
    const char *name;
    const char *kty;
    const char *crv;         /* EC */
    size_t signature_length; /* EC */
} algorithms[] = {
    {"RS256", "RSA"},
    {"RS384", "RSA"},
    {"RS512", "RSA"},
    {"PS256", "RSA"},
    {"PS384", "RSA"},
    {"PS512", "RSA"},
    {"ES256", "EC", "P-256", 64},
    {"ES384", "EC", "P-384", 96},
    {"ES512", "EC", "P-521", 132},
};

struct signing_key {
    char *kid;        /* owned */
    char *alg;        /* owned; NULL: any that fits its kind */
    const char *kty;  /* static */
    char *crv;        /* owned; NULL for RSA */
    cjose_jwk_t *jwk; /* owned */
};

struct key_set {
    struct signing_key keys[KEY_SET_MOST_KEYS];
    size_t count;
};

static void key_deinit(struct signing_key *key)
{
    free(key->kid);
    free(key->alg);
    free(key->crv);
    if (key->jwk)
        cjose_jwk_release(key->jwk);
}

/* Reading */

static bool has_member(const json_t *object, const char *key, const char *text)
{
    const char *value = json_object_get_string(object, key);

    return value && strcmp(value, text) == 0;
}

/* A key may name its uses; if it does, signatures must be among them. */
static bool is_for_signatures(const json_t *value)
{
    const json_t *operations = json_object_get(value, "key_ops");
    const json_t *operation;
    size_t i;

    if (json_object_get(value, "use") && !has_member(value, "use", "sig"))
        return false;
    json_array_foreach (operations, i, operation)
        if (json_is_string(operation) && strcmp(json_string_value(operation), "verify") == 0)
            return true;
    return !operations;
}

/* cjose aborts on some invalid values. */
static bool key_set_is_number(const json_t *value)
{
    size_t length;
    AUTO_FREE char *decoded = json_is_string(value)
                                  ? base64_decode(BASE64_URL, json_string_value(value),
                                                  json_string_length(value), &length)
                                  : NULL;

    return decoded && length > 0;
}

/* Imports only the members of the public key: other members of VALUE are ignored. NULL when it
 * cannot be used. */
static cjose_jwk_t *key_set_import(const json_t *value, const char *kty, const char *crv)
{
    static const char *const numbers[] = {"n", "e", "x", "y"};
    AUTO_JSON json_t *public = json_pack("{s:s, s:s*}", "kty", kty, "crv", crv);
    AUTO_FREE char *text = NULL;
    cjose_err err = {0};

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        json_t *number = json_object_get(value, numbers[i]);

        if (key_set_is_number(number))
            json_object_set(public, numbers[i], number);
    }
    text = json_text(public);
    return cjose_jwk_import(text, strlen(text), &err);
}

static bool is_large_enough(const struct signing_key *key)
{
    cjose_err err = {0};
    size_t bits = cjose_jwk_get_keysize(key->jwk, &err);

    return key->crv || (bits >= RSA_LEAST_BITS && bits <= RSA_MOST_BITS);
}

/* False when VALUE is no key that can be used. */
static bool key_set_read_key(const json_t *value, struct signing_key *ret)
{
    struct signing_key key = {.kty = has_member(value, "kty", "RSA") ? "RSA" : "EC"};

    if (!has_member(value, "kty", key.kty) || !is_for_signatures(value))
        return false;
    key.kid = json_object_copy_string(value, "kid");
    key.alg = json_object_copy_string(value, "alg");
    key.crv = strcmp(key.kty, "EC") == 0 ? json_object_copy_string(value, "crv") : NULL;
    key.jwk = key.kid ? key_set_import(value, key.kty, key.crv) : NULL;
    if (key.jwk && is_large_enough(&key)) {
        *ret = key;
        return true;
    }
    key_deinit(&key);
    return false;
}

struct key_set *key_set_parse(const char *text, size_t length, struct error *err)
{
    AUTO_JSON json_t *document = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const json_t *keys = json_object_get(document, "keys");
    struct key_set *set;
    const json_t *value;
    size_t i;

    if (!json_is_array(keys)) {
        error_set(err, ERROR_INVALID_REQUEST, "the document is not a key set");
        return NULL;
    }
    set = NEW(struct key_set);
    json_array_foreach (keys, i, value)
        if (set->count < KEY_SET_MOST_KEYS && key_set_read_key(value, &set->keys[set->count]))
            set->count++;
    if (set->count > 0)
        return set;
    key_set_free(set);
    error_set(err, ERROR_INVALID_REQUEST, "the set has no key that can be used");
    return NULL;
}

void key_set_free(struct key_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++)
        key_deinit(&set->keys[i]);
    free(set);
}

bool key_set_has(const struct key_set *set, const char *kid)
{
    for (size_t i = 0; set && i < set->count; i++)
        if (strcmp(set->keys[i].kid, kid) == 0)
            return true;
    return false;
}

/* Verifying */

static const struct algorithm *find_algorithm(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(algorithms); i++)
        if (strcmp(algorithms[i].name, name) == 0)
            return &algorithms[i];
    return NULL;
}

static bool key_set_fits(const struct signing_key *key, const struct algorithm *algorithm)
{
    if (strcmp(key->kty, algorithm->kty) != 0 ||
        (key->alg && strcmp(key->alg, algorithm->name) != 0))
        return false;
    return !algorithm->crv || (key->crv && strcmp(key->crv, algorithm->crv) == 0);
}

static const struct signing_key *key_set_find_key(const struct key_set *set, const char *kid,
                                                  const struct algorithm *algorithm)
{
    for (size_t i = 0; set && i < set->count; i++)
        if (strcmp(set->keys[i].kid, kid) == 0 && key_set_fits(&set->keys[i], algorithm))
            return &set->keys[i];
    return NULL;
}

static size_t signature_length(const struct signing_key *key, const struct algorithm *algorithm)
{
    cjose_err err = {0};

    if (algorithm->signature_length)
        return algorithm->signature_length;
    return (cjose_jwk_get_keysize(key->jwk, &err) + BITS_PER_BYTE - 1) / BITS_PER_BYTE;
}

static bool is_signed(const char *text, const struct signing_key *key)
{
    cjose_err err = {0};
    cjose_jws_t *jws = cjose_jws_import(text, strlen(text), &err);
    bool verified = jws && cjose_jws_verify(jws, key->jwk, &err);

    if (jws)
        cjose_jws_release(jws);
    return verified;
}

int key_set_verify(const struct key_set *set, const struct jwt *jwt, const char *text,
                   struct error *err)
{
    const struct algorithm *algorithm = find_algorithm(jwt->alg);
    const struct signing_key *key;

    if (!algorithm)
        return error_set(err, ERROR_INVALID_REQUEST, "the algorithm is not allowed");
    key = key_set_find_key(set, jwt->kid, algorithm);
    if (!key)
        return error_set(err, ERROR_INVALID_REQUEST, "the key is not known for that algorithm");
    if (jwt->signature_length != signature_length(key, algorithm) || !is_signed(text, key))
        return error_set(err, ERROR_INVALID_REQUEST, "the signature is wrong");
    return 0;
}
