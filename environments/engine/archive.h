/* A tar archive, made piece by piece as it is sent: single files from memory, then a directory with
 * its contents. Symbolic links are archived as links and never followed; devices, sockets and the
 * like are left out. Root owns every entry. */
#pragma once

#include "base/error.h"
#include "environments/engine/dockerignore.h"

#include <stdint.h>
#include <sys/types.h>

struct archive;

/* An empty archive. More than LIMIT bytes are an error when it is read. */
struct archive *archive_new(uint64_t limit);
void archive_free(struct archive *archive);

/* A file NAME with these contents, which are copied, readable for everybody. A file of the
 * directory that has the same name comes later, and wins. */
void archive_add_file(struct archive *archive, const char *name, const char *data, size_t length);

/* Adds the contents of the directory PATH, except for paths that IGNORE (taken, may be NULL)
 * matches. At most once. */
int archive_set_directory(struct archive *archive, const char *path, struct dockerignore *ignore,
                          struct error *err);

/* The next bytes, for the `send` of a request: at most SIZE, 0 at the end, -1 with ERR. A file that
 * gets shorter meanwhile is an error; a file that gets longer is sent with its old length. */
ssize_t archive_read(struct archive *archive, char *room, size_t size, struct error *err);
