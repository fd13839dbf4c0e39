/* The file that is laid over script.py in a container: only the server writes to it, and no script
 * can replace it. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* Makes the new file PATH with LENGTH bytes of CODE. READER, if not NULL, is another user that may
 * read it. Returns the file, open for writing, owned by the caller. -1 with ERR. */
int docker_script_file_new(const char *path, const char *code, size_t length, const uid_t *reader,
                           struct error *err);
