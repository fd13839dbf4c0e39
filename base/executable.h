/* Programs by their names. */
#pragma once

/* The path of the program NAME: NAME itself if that is absolute, else the first file of that name
 * in the absolute folders of PATH that we may execute. NULL: there is none. Owned by the caller. */
char *executable_find(const char *path, const char *name);
