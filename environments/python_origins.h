/* The files of this machine that the Python of an environment is made of, or is installed from.
 *
 * Whoever can change one of them executes code in that Python, before any script of a call and for
 * all of its callers. So none may lie where scripts of another environment can write, and no place
 * to write may lie in one. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct python_places;

struct python_origin {
    const char *key;  /* of the definition, static storage; NULL: a Python found by its name */
    const char *part; /* static storage: how a part is called that is not the path itself */
    const char *harm; /* static storage: what scripts would change */
    char *path;       /* owned: as it is named, or was found */
    char **parts;     /* owned, NULL-terminated: real paths; first those on the way of the path */
    size_t way;       /* how many are on the way of the path */
};

struct python_origins {
    struct python_origin *all; /* owned */
    size_t count;
};

/* Adds what DEFINITION names. True if that includes the Python, so that none is searched. */
bool python_origins_add_named(struct python_origins *sources, const json_t *definition);

/* Adds the Pythons of PLACES. */
void python_origins_add_found(struct python_origins *sources, const struct python_places *places);

void python_origins_deinit(struct python_origins *sources);

/* How SOURCE and PLACE, a real path, meet: "lies in /srv/data", or "/opt/lib, a part of its Python,
 * holds /opt/lib/data". NULL: they do not. Owned by the caller. */
char *python_origin_meet(const struct python_origin *source, const char *place);
