/* Files and directories that a script, a call or another environment could have touched.
 *
 * Anything may stand in the place of a file: a FIFO without a writer, a link to a file of somebody
 * else, a device, a file without end, or a file under a lease, which holds up whoever opens it.
 * Here no link is followed, nothing is waited for, a file is a regular one, and reading it ends at
 * a limit.
 *
 * PATH leads down from DIRECTORY, which is trusted, and cannot leave it. With AT_FDCWD it is an
 * absolute path, and none of its parts may be a link: a path of the operator is made real when his
 * configuration is read. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stddef.h>

/* The regular file at PATH, opened with FLAGS (open(2); only the server's user can access a file
 * that O_CREAT makes). Owned by the caller. -1 with ERR; its number is ENOENT when there is
 * nothing. */
int untrusted_open(int directory, const char *path, int flags, struct error *err);

/* The directory at PATH, opened for reading. Owned by the caller. */
int untrusted_open_directory(int directory, const char *path, struct error *err);

/* The whole regular file at PATH, NUL-terminated, at most LIMIT bytes. Owned by the caller. */
char *untrusted_read(int directory, const char *path, size_t limit, size_t *ret_length,
                     struct error *err);

/* The content of the JSON file at PATH, which has at most LIMIT bytes. NULL when there is no such
 * file. New reference. */
json_t *untrusted_load_json(int directory, const char *path, size_t limit);
