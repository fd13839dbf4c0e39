/* The name that a code block gives its file in its first line:
 *
 *     # filename: plot.py
 *
 * in a comment of Python, shells or other languages: //, slash and star, or <!-- -->. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* *RET is the name, owned by the caller, or NULL where the first line of CODE gives none. IS_LOOSE:
 * the word "filename:" may be missing, so that every comment is a name. -1 with
 * ERROR_INVALID_ARGUMENTS for a name that leads out of the working directory. Links on the way are
 * not checked here: the code that opens the file must refuse them. */
int block_file_name_read(const char *code, bool is_loose, char **ret, struct error *err);
