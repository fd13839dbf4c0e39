/* The programs on this machine that may be a Python, by their names. Only running a program shows
 * its version. */
#pragma once

#include <stddef.h>

struct python_places {
    char **paths; /* owned, as are the strings: programs, in the order to look at them */
    char **real;  /* owned, as are the strings: the same paths without links */
    size_t count;
};

enum { PYTHON_PLACES_MOST = 64 };

/* Looks at PATH, the usual directories, and the directories of pyenv, asdf, mise, uv and conda.
 * Programs that may be VERSION ("3.11", "3.11.7", "3") come first, in the order of these places,
 * newer before older. All others follow. */
void python_places_find(struct python_places *ret, const char *version);
/* The programs that are looked at where no Python is named: the first python3 on PATH, or for
 * VERSION (not NULL) all of them. */
void python_places_find_unnamed(struct python_places *ret, const char *version);

/* Adds PATH, if it is a program. A file that is in the list under another path is not added again.
 */
void python_places_add(struct python_places *places, const char *path);

void python_places_deinit(struct python_places *places);
