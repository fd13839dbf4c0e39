/* What a sandbox shows of the paths that a Python uses: its own directories, and never one that
 * merely holds them, such as a home. Looks at no file.
 *
 * The paths come from an interpreter, which is not believed: one that names a home, /tmp or the
 * state directory gets what it names below them, not the whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct needed_path {
    char *path;        /* absolute, without "." and ".."; no part before the last is a link */
    bool is_directory; /* shown with all that is in it; else a link or a file */
};

/* Directories of others; borrowed. */
struct needed_paths_setting {
    const char *const *homes; /* NULL-terminated: of everybody who has one on this machine */
    const char *state;        /* the state directory, or NULL */
};

/* A sorted, NULL-terminated list of those of the COUNT PATHS that a sandbox has to show: not what
 * every sandbox shows, what is in another one, or what would show more than a Python. For
 * memory_free_strings. */
char **needed_paths_reduce(const struct needed_path *paths, size_t count,
                           const struct needed_paths_setting *setting);
