/* The files of this machine that the server itself executes, or believes: its configuration, its
 * own programs, the programs of `tools` and of nodes, tokens, keys and sockets.
 *
 * A script that changes such a file gets the rights of the server's user, outside of any sandbox.
 * So none may be reached through a place where scripts can write. python_origins.h is the same for
 * the Pythons of scripts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct config;
struct script_places;

struct origin {
    char *pointer;    /* owned: to the key that names it; NULL: no key does */
    char *path;       /* owned: an absolute path; there may be nothing */
    const char *harm; /* static storage: what scripts would do there */
};

struct origins {
    struct origin *all; /* owned */
    size_t count;
};

/* Finds what CONFIG names and the server needs. PLACES are those where scripts can write: no
 * program is looked for there. */
void origins_find(struct origins *ret, const struct config *config,
                  const struct script_places *places);
void origins_deinit(struct origins *origins);

/* True if ORIGIN is reached through PLACE, a real path: it lies there, or a link on its way does.
 */
bool origin_is_reached(const struct origin *origin, const char *place);

/* The entry of PLACE through which ORIGIN is reached: while nobody changes that entry, nobody
 * changes ORIGIN. Owned by the caller. NULL: there is none, or ORIGIN is a server's or node's,
 * which may load more than one file. */
char *origin_find_entry(const struct origin *origin, const char *place);

/* The folder of the file of CONFIG, where the relative paths of `tools` begin. Owned by the caller.
 */
char *origins_folder(const struct config *config);
