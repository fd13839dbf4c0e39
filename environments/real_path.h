/* Where a path really leads: without links, "." and "..". A path that a call names is compared with
 * what the operator allows in this form only, and used in this form afterwards, so that a link that
 * is put in its way later changes nothing that was checked. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* The real path of PATH. Its last parts may be missing, but not behind a link that leads nowhere.
 * NULL with ERROR_INVALID_ARGUMENTS. Owned by the caller. */
char *real_path_find(const char *path, struct error *err);

/* True when PATH, a real one, is DIRECTORY or in it. DIRECTORY is looked at now and may be a link;
 * nothing is in one that is not there. */
bool real_path_is_in(const char *path, const char *directory);

/* True while PATH, which was a real one, still is: nobody has put a link in its way. */
bool real_path_is_same(const char *path);
