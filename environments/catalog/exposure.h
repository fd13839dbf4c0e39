/* Which Pythons could come upon what scripts of another environment have left. */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct environment;

/* Of the COUNT ENVIRONMENTS, those whose scripts read what scripts of another one can change start
 * no copies: a Python that is copied has fewer bonds than a script, and what leads it into such a
 * place, as a .pth file does, would have it execute what lies there. */
void exposure_limit(struct environment *const *environments, size_t count);

/* The configured environments, and what the server itself executes or reads. Borrowed. */
struct exposure_writers {
    struct environment *const *environments;
    size_t count;
    char *const *guarded;         /* see catalog_guard(); NULL-terminated, or NULL */
    char *const *guarded_folders; /* the same */
};

/* -1 with ERR if the Python of ENVIRONMENT, which a call has defined, or what it is installed from,
 * lies where scripts of WRITERS can write or holds such a place, or the other way round; or if it
 * could change what the server executes or reads. */
int exposure_check(const struct environment *environment, const struct exposure_writers *writers,
                   struct error *err);
