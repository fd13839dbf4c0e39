/* Keeps what the server executes or believes (origins.h) out of the places where scripts that are
 * held can write.
 *
 * In a directory where scripts work, the entries in which such files lie are kept: scripts only
 * read them there. Elsewhere, and where that cannot hold, the place is refused. */
#pragma once

#include "base/error.h"

struct catalog;
struct config;
struct environment;
struct script_places;

/* The places where such scripts of CATALOG can write, beside the directories that are made for
 * calls. Deinitialized by the caller. */
struct script_places origin_checks_places(const struct catalog *catalog);

/* Complains in CONFIG about each origin that scripts of CATALOG could change. The directory of all
 * scripts gets what is kept there (catalog_protect()). No environment that a call defines will be
 * given an origin (catalog_guard()). */
void origin_checks(struct catalog *catalog, struct config *config);

/* Whether scripts of ENVIRONMENT may work in DIRECTORY, a real path. RET_KEPT gets the entries of
 * DIRECTORY that scripts must only read there. -1 with ERROR_USAGE. */
int origin_checks_directory(const struct catalog *catalog, const struct config *config,
                            const struct environment *environment, const char *directory,
                            struct script_places *ret_kept, struct error *err);
