/* Copying a small directory tree, as a whole and at once. */
#pragma once

#include "base/error.h"

/* Copies files, directories and links of the directory FROM (a real path) into the existing
 * directory TO. FROM is not trusted: a large tree, or another kind of file, is an error. Shares
 * blocks where the file system can. Changes to the copy do not affect FROM. */
int directory_copy(const char *from, const char *to, struct error *err);
