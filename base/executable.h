/* Programs by their names. */
#pragma once

/* The file that NAME means: itself if it is absolute, else the first file of that name which may be
 * executed in the absolute folders of PATH. Owned by the caller; NULL if there is none. */
char *executable_find(const char *path, const char *name);
