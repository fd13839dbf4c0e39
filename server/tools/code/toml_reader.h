/* Reads TOML 1.0 as far as the block of a script needs it (PEP 723): the strings and the arrays of
 * strings of the root table. Values of other types and other tables are passed over, yet have to be
 * well-formed where that decides how the text goes on: strings, brackets, one pair in each line. No
 * library for TOML in C is packaged in every Debian that this runs on. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stddef.h>

/* The root table of LENGTH bytes of TEXT, without dotted keys; null is a value of another type.
 * NULL with ERROR_INVALID_ARGUMENTS, such as "line 3: a string is not closed". New reference. */
json_t *toml_read(const char *text, size_t length, struct error *err);
