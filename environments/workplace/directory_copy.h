/* Copying a small directory tree, as a whole and at once. */
#pragma once

#include "base/error.h"

/* Copies what is in the directory FROM, files, directories and links, into the existing directory
 * TO. Shares blocks where the file system can. Changes to the copy do not affect FROM. */
int directory_copy(const char *from, const char *to, struct error *err);
