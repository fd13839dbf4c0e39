/* Checks that a file that names programs can be written by its owner only. */
#pragma once

#include "base/error.h"

struct stat;

/* -1 with ERROR_CONFIG when others than the owner of PATH, whose STATUS this is, may write it. The
 * owner's own group counts as the owner: many systems give each user a group, and with umask 002
 * that group may write every file (mode 0664). */
int private_file_check(const struct stat *status, const char *path, struct error *err);
