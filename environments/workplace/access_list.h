/* Opening a file or directory of ours to one more user, and to nobody else: by an access control
 * list (POSIX.1e, draft 17), as Linux keeps it in extended attributes. */
#pragma once

#include "base/error.h"

#include <sys/types.h>

/* Lets UID read the file at PATH. What others may do stays as it is. */
int access_list_open_file(const char *path, uid_t uid, struct error *err);

/* Lets UID do everything in the directory at PATH, and lets UID and us do everything with what is
 * made in it from now on, whoever makes it. */
int access_list_open_directory(const char *path, uid_t uid, struct error *err);
