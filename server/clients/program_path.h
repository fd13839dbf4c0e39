/* The command by which a client starts this program, also after it has been upgraded. */
#pragma once

#include "base/error.h"

#include <jansson.h>

/* An array of strings: the path by which the program was called, CALLED (argv[0]), with its links.
 * New reference; NULL with ERR, also for a program in uv's cache, which is emptied now and then. */
json_t *program_path_command(const char *called, struct error *err);
