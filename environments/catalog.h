/* The environments of this server by name, made from their definitions. */
#pragma once

#include "environments/environment.h"

#include <jansson.h>

struct catalog;

/* LOOP and HOST are borrowed; HOST starts what preparing an environment has to run, and may be NULL
 * for a catalog that is only looked at. */
struct catalog *catalog_new(struct ev_loop *loop, struct process_host *host);
void catalog_free(struct catalog *catalog);

/* Adds the environment NAME from DEFINITION, which has passed schemas/environment.*.json. SETTINGS
 * are the defaults that the definition may narrow. On failure ERR says why and *RET_KEY (static
 * storage, may be NULL) which key of the definition is to blame. */
int catalog_add(struct catalog *catalog, const char *name, const json_t *definition,
                const struct environment_settings *defaults, const char **ret_key,
                struct error *err);

/* Borrowed, or NULL. */
struct environment *catalog_find(const struct catalog *catalog, const char *name);

/* The names in the order they were added, as an array of strings. New reference. */
json_t *catalog_names(const struct catalog *catalog);
