/* A tar archive, made piece by piece as it is sent: a directory with all that is in it, or single
 * files from memory, or both. Symbolic links are archived as such and never followed; what is
 * neither a file, a directory nor a link is left out. Owners are left out: everything is root's. */
#pragma once

#include "base/error.h"
#include "environments/docker/dockerignore.h"

#include <stdint.h>
#include <sys/types.h>

struct archive;

/* An empty archive. More than LIMIT bytes are an error when it is read. */
struct archive *archive_new(uint64_t limit);
void archive_free(struct archive *archive);

/* A file NAME with these contents, which are copied. */
void archive_add_file(struct archive *archive, const char *name, const char *data, size_t length);

/* What is in the directory PATH, except for what IGNORE (taken; NULL: nothing is) matches. */
int archive_add_directory(struct archive *archive, const char *path, struct dockerignore *ignore,
                          struct error *err);

/* The next bytes, for the `send` of a request: at most SIZE, 0 at the end, -1 with ERR. A file that
 * changes its length meanwhile is an error. */
ssize_t archive_read(struct archive *archive, char *room, size_t size, struct error *err);
