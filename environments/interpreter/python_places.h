/* Where a Python may be installed on this machine: files by their names only; what they are is told
 * by running them. */
#pragma once

#include <stddef.h>

struct python_places {
    char **paths; /* owned, as are the strings: programs, in the order to look at them */
    char **real;  /* owned, likewise: the same without links */
    size_t count;
};

enum { PYTHON_PLACES_MOST = 64 };

/* Looks at PATH, the usual directories, and where pyenv, asdf, mise, uv and conda keep theirs. What
 * may be VERSION ("3.11", "3.11.7", "3") comes first: by the order of these places, newer ones
 * before older ones; then whatever else there is. */
void python_places_find(struct python_places *ret, const char *version);
void python_places_deinit(struct python_places *places);
