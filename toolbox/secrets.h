/* Secret values: of variables of this process that the configuration names as `${NAME}`. Scripts,
 * results and the log must not get them. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define SECRETS_MARK "[secret]" /* stands in place of a value */

enum { SECRETS_LEAST_BYTES = 8 }; /* a shorter value is no secret: it stands in texts by accident */

struct secret {
    char *value; /* owned */
    size_t length;
};

/* Zeroed, it is empty. */
struct secrets {
    struct secret *items; /* owned; the longest first */
    size_t count;
    bool were_named; /* there was a `${NAME}`, perhaps with a short value */
};

void secrets_deinit(struct secrets *secrets);

/* TEXT with every `${NAME}` replaced by the variable NAME; `$${` stands for `${`. Owned by the
 * caller. SECRETS gets the values. NULL with ERROR_CONFIG for a variable that is not set. */
char *secrets_expand(struct secrets *secrets, const char *text, struct error *err);

/* Replaces the values in TEXT, in place; it does not become longer. Returns its new length. */
size_t secrets_hide_text(const struct secrets *secrets, char *text, size_t length);

/* The same in every string of VALUE, which is nobody else's, and in the names of its members. */
void secrets_hide(const struct secrets *secrets, json_t *value);
void secrets_hide_error(const struct secrets *secrets, struct error *err);

/* Hides the values in text that comes in pieces: the start of one is held back until it is known
 * what follows. */
struct secret_filter {
    /* Input. BYTES are borrowed. */
    void (*passed)(struct secret_filter *filter, const char *bytes, size_t length);

    /* Private. */
    const struct secrets *secrets; /* borrowed */
    struct buffer held;
};

/* FILTER has its input. */
void secret_filter_init(struct secret_filter *filter, const struct secrets *secrets);
void secret_filter_deinit(struct secret_filter *filter);
void secret_filter_feed(struct secret_filter *filter, const char *bytes, size_t length);
