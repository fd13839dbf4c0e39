/* Chooses the paths of a Python that a sandbox shows: its own directories, never a directory that
 * merely holds them, such as a home. Looks at no file.
 *
 * The paths come from an interpreter, which is not believed: if it names a home, /tmp or the state
 * directory, it gets only the directories that it names below them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct needed_path {
    char *path;        /* absolute, without "." and ".."; no part before the last is a link */
    bool is_directory; /* shown with its contents; else a link or a file */
};

/* Directories of others; borrowed. */
struct needed_paths_setting {
    const char *const *homes; /* NULL-terminated: all homes of this machine */
    const char *state;        /* the state directory, or NULL */
};

/* A sorted, NULL-terminated list of the paths among the COUNT PATHS that a sandbox has to show.
 * Paths are left out if every sandbox shows them, a listed directory holds them, or they would show
 * more than a Python. For memory_free_strings. */
char **needed_paths_reduce(const struct needed_path *paths, size_t count,
                           const struct needed_paths_setting *setting);
