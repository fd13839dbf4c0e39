#include "server/transport/oauth/jwt.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <string.h>
#include <strings.h>

enum { PARTS = 3 };

bool jwt_has_form(const char *text)
{
    unsigned dots = 0;

    for (; *text; text++)
        dots += *text == '.';
    return dots == PARTS - 1;
}

/* Taking apart */

/* A part: a JSON object in base64url. New reference, or NULL. */
static json_t *read_part(const char *text, size_t length)
{
    size_t decoded_length;
    AUTO_FREE char *decoded = base64_decode(BASE64_URL, text, length, &decoded_length);
    json_t *value;

    if (!decoded)
        return NULL;
    value = json_loadb(decoded, decoded_length, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(value))
        return value;
    json_decref(value);
    return NULL;
}

static int read_signature(struct jwt *jwt, const char *text, struct error *err)
{
    AUTO_FREE char *decoded = base64_decode(BASE64_URL, text, strlen(text), &jwt->signature_length);

    return decoded ? 0 : error_set(err, ERROR_INVALID_REQUEST, "the signature is malformed");
}

/* True for the types of RFC 9068 and of most servers. */
static bool is_type_of_ours(const json_t *type)
{
    const char *text = json_string_value(type);

    return !type || (text && (strcasecmp(text, "JWT") == 0 || strcasecmp(text, "at+jwt") == 0 ||
                              strcasecmp(text, "application/at+jwt") == 0));
}

static int check_header(struct jwt *jwt, struct error *err)
{
    jwt->alg = json_object_get_string(jwt->header, "alg");
    jwt->kid = json_object_get_string(jwt->header, "kid");
    if (!jwt->alg)
        return error_set(err, ERROR_INVALID_REQUEST, "no algorithm is named");
    if (!jwt->kid)
        return error_set(err, ERROR_INVALID_REQUEST, "no key is named");
    if (json_object_get(jwt->header, "crit"))
        return error_set(err, ERROR_INVALID_REQUEST, "an extension is critical, and none is known");
    if (!is_type_of_ours(json_object_get(jwt->header, "typ")))
        return error_set(err, ERROR_INVALID_REQUEST, "the type is not that of an access token");
    return 0;
}

static int read_parts(struct jwt *jwt, const char *text, struct error *err)
{
    size_t header_length = strcspn(text, ".");
    const char *claims = text + header_length + 1;
    size_t claims_length = strcspn(claims, ".");

    jwt->header = read_part(text, header_length);
    jwt->claims = read_part(claims, claims_length);
    if (!jwt->header || !jwt->claims)
        return error_set(err, ERROR_INVALID_REQUEST, "header or claims are malformed");
    return read_signature(jwt, claims + claims_length + 1, err);
}

int jwt_read(struct jwt *jwt, const char *text, struct error *err)
{
    *jwt = (struct jwt){0};
    if (!jwt_has_form(text))
        return error_set(err, ERROR_INVALID_REQUEST, "no token of three parts");
    if (read_parts(jwt, text, err) == 0 && check_header(jwt, err) == 0)
        return 0;
    jwt_deinit(jwt);
    return -1;
}

void jwt_deinit(struct jwt *jwt)
{
    json_decref(jwt->header);
    json_decref(jwt->claims);
    *jwt = (struct jwt){0};
}

/* Claims */

/* VALUE is TEXT, or an array that has it. */
static bool jwt_names(const json_t *value, const char *text)
{
    const json_t *element;
    size_t i;

    if (json_is_string(value))
        return strcmp(json_string_value(value), text) == 0;
    json_array_foreach (value, i, element)
        if (json_is_string(element) && strcmp(json_string_value(element), text) == 0)
            return true;
    return false;
}

static int check_time(const json_t *claims, double now, struct error *err)
{
    const json_t *expires = json_object_get(claims, "exp");
    const json_t *begins = json_object_get(claims, "nbf");

    if (!json_is_number(expires))
        return error_set(err, ERROR_INVALID_REQUEST, "the token has no expiry");
    if (now >= json_number_value(expires) + JWT_LEEWAY_SECONDS)
        return error_set(err, ERROR_INVALID_REQUEST, "the token has expired");
    if (begins && (!json_is_number(begins) || now < json_number_value(begins) - JWT_LEEWAY_SECONDS))
        return error_set(err, ERROR_INVALID_REQUEST, "the token is not valid yet");
    return 0;
}

int jwt_check(const struct jwt *jwt, const struct jwt_rules *rules, struct error *err)
{
    const char *issuer = json_object_get_string(jwt->claims, "iss");
    const char *subject = json_object_get_string(jwt->claims, "sub");

    if (!issuer || strcmp(issuer, rules->issuer) != 0)
        return error_set(err, ERROR_INVALID_REQUEST, "another server has issued the token");
    if (!jwt_names(json_object_get(jwt->claims, "aud"), rules->audience))
        return error_set(err, ERROR_INVALID_REQUEST, "the token is for another resource");
    if (!subject || !*subject)
        return error_set(err, ERROR_INVALID_REQUEST, "the token does not say whose it is");
    return check_time(jwt->claims, rules->now, err);
}

/* Words with single spaces between them (RFC 6749, 3.3). */
static bool jwt_has_word(const char *words, const char *word)
{
    size_t length = strlen(word);

    while (*words) {
        size_t word_length = strcspn(words, " ");

        if (word_length == length && strncmp(words, word, length) == 0)
            return true;
        words += word_length;
        words += strspn(words, " ");
    }
    return false;
}

/* `scope` is the registered claim (RFC 8693, 4.2); some servers write `scp`. */
bool jwt_has_scope(const struct jwt *jwt, const char *scope)
{
    static const char *const claims[] = {"scope", "scp"};

    for (size_t i = 0; i < ARRAY_SIZE(claims); i++) {
        const json_t *value = json_object_get(jwt->claims, claims[i]);

        if (json_is_string(value) ? jwt_has_word(json_string_value(value), scope)
                                  : jwt_names(value, scope))
            return true;
    }
    return false;
}
