/* JSON Web Tokens (RFC 7519) as they come in: taken apart and judged by their claims. key_set.h
 * verifies their signature. */
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

/* The rules for the claims. */
struct jwt_rules {
    const char *issuer;   /* borrowed */
    const char *audience; /* borrowed */
    double now;           /* seconds since the epoch */
};

/* True for text of three parts with dots between them. */
bool jwt_has_form(const char *text);

/* Takes TEXT apart. ERROR_INVALID_REQUEST for text that is no signed token of the compact form, or
 * whose header requires an extension that is not supported. Nothing in it is to be believed yet. */
int jwt_read(struct jwt *jwt, const char *text, struct error *err);
void jwt_deinit(struct jwt *jwt);

/* ERROR_INVALID_REQUEST when JWT has another issuer or audience, is not yet or no longer valid, or
 * names no subject. */
int jwt_check(const struct jwt *jwt, const struct jwt_rules *rules, struct error *err);

/* True when JWT allows SCOPE. */
bool jwt_has_scope(const struct jwt *jwt, const char *scope);
