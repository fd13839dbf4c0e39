/* The secret that TCP clients must show. */
#pragma once

#include "base/error.h"

enum {
    TOKEN_FILE_LEAST_BYTES = 16,
    TOKEN_FILE_MOST_BYTES = 4096,
};

/* The token in the file at PATH, without the line break at its end. A file that others may read, a
 * short token and one that is no line of printable characters are refused. Owned by the caller;
 * NULL with ERROR_CONFIG. */
char *token_file_read(const char *path, struct error *err);
