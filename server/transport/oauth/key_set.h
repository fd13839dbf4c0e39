/* The public keys of an authorization server (RFC 7517), and checks of their signatures. Keys that
 * are secret, small, nameless or for another use are left out, so that none is mistaken for
 * another. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct jwt;
struct key_set;

enum { KEY_SET_MOST_KEYS = 64 };

/* Reads LENGTH bytes of JSON. NULL with ERR when that is no key set, or has no usable key. */
struct key_set *key_set_parse(const char *text, size_t length, struct error *err);
void key_set_free(struct key_set *set);

/* True when it has a key of this name. SET may be NULL: there are none. */
bool key_set_has(const struct key_set *set, const char *kid);

/* ERROR_INVALID_REQUEST unless TEXT, which is JWT, was signed with the key that it names, by an
 * allowed algorithm that fits the key. */
int key_set_verify(const struct key_set *set, const struct jwt *jwt, const char *text,
                   struct error *err);
