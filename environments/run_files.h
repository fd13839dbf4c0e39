/* Files that are put into a working directory before code runs there. */
#pragma once

#include "base/error.h"

#include <jansson.h>

struct environment;
struct working_directory;

/* Puts FILES (provided_files.h; checked; or NULL) into DIRECTORY, and the module that the operator
 * gives to the scripts of ENVIRONMENT, which is prepared. They count as there before the run. */
int run_files_put(const struct environment *environment, const struct working_directory *directory,
                  const json_t *files, struct error *err);
