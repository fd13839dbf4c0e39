/* Keeps what the server executes or believes (origins.h) out of the places where scripts that are
 * held can write. */
#pragma once

#include "base/error.h"

struct catalog;
struct config;
struct environment;
struct script_places;

/* The places where such scripts of CATALOG can write, beside the directories that are made for
 * calls. Deinitialized by the caller. */
struct script_places origin_checks_places(const struct catalog *catalog);

/* Complains in CONFIG about each origin that is reached through such a place. No environment that a
 * call defines will be given one (catalog_guard()). */
void origin_checks(struct catalog *catalog, struct config *config);

/* Whether scripts of ENVIRONMENT may work in DIRECTORY, a real path, although origins of CONFIG are
 * reached through it. RET_KEPT gets the entries of DIRECTORY that scripts must only read there. -1
 * with ERROR_USAGE. */
int origin_checks_directory(const struct catalog *catalog, const struct config *config,
                            const struct environment *environment, const char *directory,
                            struct script_places *ret_kept, struct error *err);
