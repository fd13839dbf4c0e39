/* Where the scripts of the command line work: in the current directory, a named directory, or a
 * temporary directory outside the user's files. In a directory that has no sandbox, such as a home,
 * they work only if the user names it. Nothing of the user's is overwritten or removed. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct environment;
struct service;
struct working_directory;

struct script_place {
    const char *wanted; /* a directory, a handle, "temporary", or NULL: the configured directory,
                           else the current one; borrowed */
    const char *script; /* the user's file that is executed, or NULL; borrowed */
};

/* The directory for a run in ENVIRONMENT; says on stderr where the files are, unless the user knows
 * it. A new reference, or NULL. */
struct working_directory *place_open(const struct script_place *place, struct service *service,
                                     struct environment *environment, struct error *err);

/* For service_open: the folder of SCRIPT, a file or NULL. A script may read what lies beside it:
 * its modules. Owned by the caller. */
char *place_find_start(const char *script);
