/* The files of this machine that the server itself executes, or believes: its configuration, its
 * own programs, the programs of `tools` and of nodes, tokens, keys and sockets.
 *
 * A script that changes such a file gets the rights of the server's user, outside of any sandbox.
 * So none may lie, or be found by a link, where scripts can write. python_origins.h is the same for
 * the Pythons of scripts. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct config;
struct script_places;

enum origin_kind {
    ORIGIN_FILE,    /* the file alone */
    ORIGIN_PROGRAM, /* it may load files of its folder, as a script of Python does */
    ORIGIN_FOLDER,  /* the whole folder is code */
    ORIGIN_SOUGHT,  /* a program; PATH has it in folders of scripts only */
};

struct origin {
    enum origin_kind kind;
    char *pointer;    /* owned: to the key that names it; NULL: no key does */
    char *path;       /* owned: an absolute path; there may be nothing */
    char **way;       /* owned: the links on its way, and where it leads */
    const char *harm; /* static storage: what scripts would do there */
};

struct origins {
    struct origin *all; /* owned */
    size_t count;
};

/* Finds what CONFIG names and the server needs. PLACES are those where scripts can write: no
 * program is looked for there. DIRECTORY, where one command works, or NULL: the configuration that
 * lies there is for another one. */
void origins_find(struct origins *ret, const struct config *config,
                  const struct script_places *places, const char *directory);
void origins_deinit(struct origins *origins);

/* True if ORIGIN lies in PLACE, a real path, or is found by a link there. */
bool origin_lies_in(const struct origin *origin, const char *place);

/* The same, or PLACE lies in the folder that ORIGIN is: scripts that can write in PLACE can change
 * ORIGIN. */
bool origin_is_reached(const struct origin *origin, const char *place);

/* The entry of PLACE in which ORIGIN lies: where scripts only read that entry, they cannot change
 * ORIGIN. Owned by the caller. NULL with ERR, which has the reason: there is no such entry. */
char *origin_find_entry(const struct origin *origin, const char *place, struct error *err);

/* The first variable in DEFINITION, of a server of tools, that leads to code by a relative path.
 * Borrowed, or NULL. */
const char *origins_find_relative(const json_t *definition);

/* The folder of the file of CONFIG, where relative paths of `tools` begin. Owned by the caller. */
char *origins_folder(const struct config *config);
