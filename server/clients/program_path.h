/* The command by which a client starts this program, also after it has been upgraded. */
#pragma once

#include "base/error.h"

#include <jansson.h>

/* An array of strings: the path by which the program was called, CALLED (argv[0]), with its links;
 * or `uvx pyexecd`, if uv keeps the program in its cache, which it empties. New reference; NULL
 * with ERR. */
json_t *program_path_command(const char *called, struct error *err);
