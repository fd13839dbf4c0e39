/* The places of this machine where scripts of any environment can write. An installer reads and
 * executes nothing there, or scripts would rule the installations of others. */
#pragma once

#include <stdbool.h>

struct script_places {
    char **paths; /* owned, as are the strings: real paths, NULL-terminated; NULL: none */
};

/* Adds MORE, NULL-terminated or NULL. */
void script_places_add(struct script_places *places, const char *const *more);
void script_places_deinit(struct script_places *places);

/* The place of PLACES that PATH lies in or leads through, by a link that lies there or leads there.
 * PATH may be missing. Borrowed; NULL: none. PLACES may be NULL. */
const char *script_places_reach(const struct script_places *places, const char *path);

/* True if PATH is one of PLACES or lies in one, by its name alone. PLACES may be NULL. */
bool script_places_hold(const struct script_places *places, const char *path);
