/* Finds programs by name on the PATH of the server.
 *
 * The virtual environment that this program was installed into comes last, on PATH or not: it was
 * made for the program, has no packages for scripts, and `uvx` puts it first on PATH. If a user has
 * activated it, it keeps its place on PATH. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct script_places;

/* PATH, or a default if it is not set. Borrowed. */
const char *search_path(void);

/* The file NAME in the POSITION-th of the directories on PATH that have it, or NULL. Owned by the
 * caller. Relative directories on PATH are skipped. */
char *search_path_find(const char *name, size_t position);

/* The same with LAST, a directory or NULL, as the last directory. */
char *search_path_find_with_last(const char *name, size_t position, const char *last);

/* Returns the first NAME on PATH that lies outside of DIRECTORY, behind links too, and is not
 * reached through one of PLACES, which may be NULL. Owned by the caller. */
char *search_path_find_outside(const char *name, const char *directory,
                               const struct script_places *places);

/* Returns the absolute folders of PATH, but for what lies in DIRECTORY or is reached through one of
 * PLACES; both may be NULL. Owned by the caller. */
char *search_path_without(const char *directory, const struct script_places *places);

/* True if PATH is DIRECTORY or lies in it, by where links lead. */
bool search_path_lies_in(const char *path, const char *directory);

/* The directory of PROGRAM, if that is in a virtual environment other than ACTIVE, which may be
 * NULL; else NULL. Owned by the caller. */
char *search_path_own_directory(const char *program, const char *active);

/* True when PATH is a file that the server may execute. */
bool search_path_is_program(const char *path);
