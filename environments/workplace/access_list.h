/* Gives one more user access to a file or directory of the server, by an access control list
 * (POSIX.1e, draft 17) as Linux keeps it in extended attributes. Scripts write in the places of
 * these files, so their paths are real ones, and a link in one of them is an error. */
#pragma once

#include "base/error.h"

#include <sys/types.h>

/* Lets UID read the file at PATH. What others may do stays as it is. */
int access_list_open_file(const char *path, uid_t uid, struct error *err);

/* Gives UID all rights in the directory at PATH, and UID and the server all rights to whatever is
 * made in it from now on. */
int access_list_open_directory(const char *path, uid_t uid, struct error *err);
