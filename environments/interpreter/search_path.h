/* Finds programs by name on the PATH of the server. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* PATH, or a default if it is not set. Borrowed. */
const char *search_path(void);

/* The file NAME in the POSITION-th of the directories on PATH that have it, or NULL. Owned by the
 * caller. Relative directories on PATH are skipped. */
char *search_path_find(const char *name, size_t position);

/* True when PATH is a file that the server may execute. */
bool search_path_is_program(const char *path);
