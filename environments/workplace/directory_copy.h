/* Copying a small directory tree, as a whole and at once. */
#pragma once

#include "base/error.h"

/* Copies what is in the directory FROM (a real path), files, directories and links, into the
 * existing directory TO. Nothing in FROM is trusted: what is no small tree is an error. Shares
 * blocks where the file system can. Changes to the copy do not affect FROM. */
int directory_copy(const char *from, const char *to, struct error *err);
