/* Which places of this machine may be shown to scripts that are kept from it. The operator chooses
 * them; this prevents mistakes. */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* A place that nobody is shown: neither itself, nor directories that hold it, nor places inside of
 * it. */
struct guarded_place {
    const char *path;   /* absolute; NULL, or nothing there: there is nothing to guard */
    const char *what;   /* a name for it that explains it to anybody */
    const char *advice; /* how places inside of it are shown, which is allowed then; or NULL */
};

struct place_guard {
    const char *whose; /* "containers" */
    const struct guarded_place *places;
    size_t count;
};

/* The file or directory that PATH (absolute) really is, with all symbolic links followed. NULL with
 * ERROR_UNAVAILABLE when there is none, or ERROR_CONFIG when it is guarded, or neither a file nor a
 * directory. Owned by the caller. */
char *place_guard_resolve(const struct place_guard *guard, const char *path, struct error *err);
