/* Programs by their names. */
#pragma once

/* Finds the program NAME in the absolute folders of PATH, a list. NAME is returned if it is
 * absolute, NULL if we may execute no such file. Owned by the caller. */
char *executable_find(const char *path, const char *name);
