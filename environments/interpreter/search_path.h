/* Programs by name: where the server's own PATH has them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* PATH, or what stands for it where there is none. Borrowed. */
const char *search_path(void);

/* The file NAME in the POSITION-th of the directories on PATH that have it, or NULL. Owned by the
 * caller. A relative directory on PATH is no place to take a program from. */
char *search_path_find(const char *name, size_t position);

/* A file that we may execute. */
bool search_path_is_program(const char *path);
