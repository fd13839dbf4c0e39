/* The entries of a directory and of all directories in it, one by one: each directory before
 * what is in it, names in the order of their bytes. Symbolic links are returned and never
 * followed, so nothing outside is reached. A tree that changes during the walk may be seen half
 * old, half new. */
#pragma once

#include "base/error.h"
#include "environments/engine/dockerignore.h"

#include <sys/stat.h>

struct directory_walk;

struct directory_entry {
    const char *path; /* relative to where the walk began */
    int parent;       /* descriptor of the directory that it is in; borrowed until the next step */
    const char *name; /* in there */
    struct stat about;
};

/* What is in PATH, a real path, but for what IGNORE (taken, may be NULL) matches. NULL with ERR,
 * and IGNORE is freed. */
struct directory_walk *directory_walk_new(const char *path, struct dockerignore *ignore,
                                          struct error *err);
void directory_walk_free(struct directory_walk *walk);

/* 1 and RET, 0 at the end, -1 with ERR. */
int directory_walk_next(struct directory_walk *walk, struct directory_entry *ret,
                        struct error *err);
