/* Puts a file of the server's own into a working directory, beside those of scripts. */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct working_directory;

/* A new file in DIRECTORY, which is claimed, that holds TEXT. It is called STEM.txt, or STEM-2.txt
 * and so on where that name is taken by whatever it may be: nothing that is there is touched. Its
 * name, owned by the caller; NULL with ERR. */
char *directory_deposit(struct working_directory *directory, const char *stem, const char *text,
                        size_t length, struct error *err);
