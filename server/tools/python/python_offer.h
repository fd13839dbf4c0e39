/* The environments that a principal is offered: all of the configuration, or the environments that
 * the token file allows it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct caller_rules;
struct catalog;
struct environment;
struct principal;
struct notebooks;
struct python_settings;

/* Borrowed from the settings and the limits that it was made from. */
struct python_offer {
    const struct catalog *catalog;
    const struct python_settings *settings;
    const struct principal *principal; /* NULL: without restrictions */
    const struct caller_rules *rules;  /* NULL: its calls may define none */
    const char *const *names;          /* NULL-terminated; NULL: all of the catalog */
    const char *default_environment;
    const struct notebooks *sessions; /* NULL: there are none */
};

/* The offer for PRINCIPAL; for NULL, the offer without restrictions. The default environment is the
 * default of SETTINGS, or instead the first environment that PRINCIPAL may use. */
struct python_offer python_offer_for(const struct python_settings *settings,
                                     const struct principal *principal);

/* True when the offer for PRINCIPAL is restricted. */
bool python_offer_is_personal(const struct principal *principal);

/* The environment behind the first *POSITION of the catalog, which is counted on; NULL at the end.
 * Borrowed. */
struct environment *python_offer_next(const struct python_offer *offer, size_t *position);

/* The environment called NAME, or NULL. Borrowed. */
struct environment *python_offer_find(const struct python_offer *offer, const char *name);

/* All of them, NULL-terminated. The list is owned by the caller. */
const struct environment **python_offer_list(const struct python_offer *offer);
