/* Gives one more user access to a file or directory of the server, by an access control list
 * (POSIX.1e, draft 17) as Linux keeps it in extended attributes. Scripts write into the directories
 * of these files, so PATH must be a real path: a link in it is an error. */
#pragma once

#include "base/error.h"

#include <sys/types.h>

/* Lets UID read the file at PATH. The rights of other users stay as they are. */
int access_list_open_file(const char *path, uid_t uid, struct error *err);

/* Gives UID all rights in the directory at PATH, and UID and the server all rights to files that
 * are made in it from now on. */
int access_list_open_directory(const char *path, uid_t uid, struct error *err);
