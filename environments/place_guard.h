/* Which places of this machine may be shown to scripts that are kept from it. The operator chooses
 * them; this prevents mistakes. */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* What nobody is shown: neither the place itself, nor what holds it, nor what lies in it. */
struct guarded_place {
    const char *path;   /* absolute; NULL, or nothing there: there is nothing to guard */
    const char *what;   /* it is, to somebody who has never heard of it */
    const char *advice; /* what lies in it may be shown, and this is how; or NULL */
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
