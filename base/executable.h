/* Programs by their names. */
#pragma once

/* Returns NAME if it is absolute, else the first file of that name which may be executed in the
 * absolute folders of PATH; NULL if there is none. Owned by the caller. */
char *executable_find(const char *path, const char *name);
