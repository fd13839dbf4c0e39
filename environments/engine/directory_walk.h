/* The entries of a directory and of all directories in it, one by one: each directory before its
 * contents, names in the order of their bytes. Symbolic links are returned and never followed, so
 * the walk stays inside. A tree that changes during the walk may be seen half old, half new. */
#pragma once

#include "base/error.h"
#include "environments/engine/dockerignore.h"

#include <sys/stat.h>

struct directory_walk;

struct directory_entry {
    const char *path; /* relative to the root of the walk */
    int parent;       /* descriptor of its directory; borrowed until the next step */
    const char *name; /* in there */
    struct stat about;
};

/* Walks the contents of PATH, a real path, except for paths that IGNORE (taken, may be NULL)
 * matches. NULL with ERR, and IGNORE is freed. */
struct directory_walk *directory_walk_new(const char *path, struct dockerignore *ignore,
                                          struct error *err);
void directory_walk_free(struct directory_walk *walk);

/* 1 and RET, 0 at the end, -1 with ERR. */
int directory_walk_next(struct directory_walk *walk, struct directory_entry *ret,
                        struct error *err);
