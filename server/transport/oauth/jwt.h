/* JSON Web Tokens (RFC 7519) as they come in: taken apart and judged by what they say. Whether
 * their signature is right is another question, for key_set.h. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define JWT_LEEWAY_SECONDS 30.0 /* clocks differ */

struct jwt {
    json_t *claims;  /* owned */
    json_t *header;  /* owned */
    const char *alg; /* borrowed from `header` */
    const char *kid; /* borrowed from `header` */
    size_t signature_length;
};

/* What the claims must say. */
struct jwt_rules {
    const char *issuer;   /* borrowed */
    const char *audience; /* borrowed */
    double now;           /* seconds since the epoch */
};

/* True for text of three parts with dots between them. */
bool jwt_has_form(const char *text);

/* Takes TEXT apart. ERROR_INVALID_REQUEST for what is no signed token of the compact form, or asks
 * for something that must be understood and is not. Nothing in it is to be believed yet. */
int jwt_read(struct jwt *jwt, const char *text, struct error *err);
void jwt_deinit(struct jwt *jwt);

/* ERROR_INVALID_REQUEST when JWT is another's, for another, not yet or no longer valid, or does not
 * say whose it is. */
int jwt_check(const struct jwt *jwt, const struct jwt_rules *rules, struct error *err);

/* True when SCOPE is among what JWT allows. */
bool jwt_has_scope(const struct jwt *jwt, const char *scope);
