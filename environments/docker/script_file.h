/* What is laid over script.py in a container: a file where only the server writes, which no script
 * can replace. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* Makes the file PATH, which is new, of LENGTH bytes of CODE, and lets the user READER read it, or
 * NULL: nobody. Returns it, to be written to; owned by the caller. -1 with ERR. */
int docker_script_file_new(const char *path, const char *code, size_t length, const uid_t *reader,
                           struct error *err);
