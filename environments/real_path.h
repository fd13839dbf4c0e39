/* Real paths: without links, "." and "..". A path from a call is compared in this form with the
 * paths that the operator allows, and used in this form afterwards, so that a link that is made
 * later does not change the path that was checked. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* The real path of PATH. Its last parts may be missing, but not behind a link that leads nowhere.
 * NULL with ERROR_INVALID_ARGUMENTS. Owned by the caller. */
char *real_path_find(const char *path, struct error *err);

/* True when the real path PATH is DIRECTORY or inside it. DIRECTORY may be a link. False when there
 * is no DIRECTORY. */
bool real_path_is_in(const char *path, const char *directory);

/* True when the real path PATH is INNER, also a real path, or a directory above it. */
bool real_path_holds(const char *path, const char *inner);

/* True while the real path PATH still is one: no part of it has become a link. */
bool real_path_is_same(const char *path);
