/* Places in the root of a sandbox, for the paths shown there. */
#pragma once

#include <stdbool.h>

/* RET of a call that makes a file in a root, but 0 if the file exists or its place, a mount, is
 * read-only. */
int root_made(int ret);

/* Makes the directories that PATH is in; and something at PATH for a mount to lie on. -1 with errno
 * set. */
int root_make_way(const char *path);
int root_make_place(const char *path, bool is_directory);

/* Makes a file at PATH with TEXT in it. -1 with errno set. */
int root_write(const char *path, const char *text);

/* PATH, but without the link that is a root's own (root_table.c). */
const char *root_find_way(const char *path);

/* The mount TREE, a descriptor, is at PATH, to which no link leads, and where something is. -1 with
 * errno set. */
int root_attach(int tree, const char *path);

/* The same, and makes the place that TREE lies on. */
int root_put(int tree, const char *path);
