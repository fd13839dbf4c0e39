/* The name that a code block gives its file in its first line:
 *
 *     # filename: plot.py
 *
 * in the comment of Python and shells, or that of other languages: //, slash and star, or <!-- -->.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* *RET is the name, owned by the caller, or NULL where the first line of CODE gives none. IS_LOOSE:
 * the word "filename:" may be missing, so that every comment is a name. -1 with
 * ERROR_INVALID_ARGUMENTS for a name that is not one of a file below the working directory. Links
 * on the way are for who opens it. */
int block_file_name_read(const char *code, bool is_loose, char **ret, struct error *err);
