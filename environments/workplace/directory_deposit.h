/* Puts a file of the server's own into a working directory, beside the files of scripts. */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct working_directory;

/* Makes a new file with TEXT in DIRECTORY, which is claimed. Its name is STEM.txt, or STEM-2.txt
 * and so on if that name is taken: existing files stay. Returns the name, owned by the caller; NULL
 * with ERR. */
char *directory_deposit(struct working_directory *directory, const char *stem, const char *text,
                        size_t length, struct error *err);
