/* The keys of an authorization server: fetched with the first token, kept, and fetched again when a
 * token names an unknown key, since servers exchange their keys. They are fetched only once in a
 * while, since anybody can name a key. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"

#include <ev.h>

struct key_set;
struct key_source;

struct key_source_settings {
    struct ev_loop *loop; /* borrowed */
    const char *issuer;   /* copied */
    const char *jwks_uri; /* copied; NULL: the issuer's metadata has it */
};

/* A waiter for keys. */
struct key_waiter {
    struct list link;
    void (*ready)(struct key_waiter *waiter);
};

struct key_source *key_source_new(const struct key_source_settings *settings, struct error *err);

/* No waiter may be left. */
void key_source_free(struct key_source *source);

/* READY: key_source_keys has the key KID, or it is too early to fetch keys again. PENDING: keys are
 * being fetched, and `ready` will be called whether that succeeds or not, unless WAITER is taken
 * out of its list. */
enum outcome key_source_look_up(struct key_source *source, const char *kid,
                                struct key_waiter *waiter);

/* The keys that were fetched last. Borrowed until the loop turns; NULL while there are none. */
const struct key_set *key_source_keys(const struct key_source *source);
