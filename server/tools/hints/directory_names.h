/* The names in a working directory, for a caller that has looked for a missing name. Scripts have
 * chosen the names, so they are hostile: only so many are read, and none that would break a
 * line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct directory_names {
    char **names; /* owned, as are the strings; sorted */
    size_t count;
    bool is_complete; /* there are no others, but hidden ones and script.py */
};

/* Reads the directory at PATH. -1: it cannot be read. */
int directory_names_read(struct directory_names *ret, const char *path);
void directory_names_deinit(struct directory_names *names);

/* True for a name that is read and fits into a line: neither hidden nor script.py. */
bool directory_name_is_plain(const char *name);

bool directory_names_have(const struct directory_names *names, const char *name);

/* "a.csv, b.csv": the few that are most like NAME; NULL: none is. Owned by the caller. */
char *directory_names_near(const struct directory_names *names, const char *name);

/* The same for the first names, with "..." if there are more, or "no files". NULL: not known. Owned
 * by the caller. */
char *directory_names_list(const struct directory_names *names);
