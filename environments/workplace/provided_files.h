/* The files that a call puts into its working directory before its script runs: a JSON array of
 * {path, text} and {path, blob}, whose blob is base64. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdint.h>

struct working_directory;

/* Fails with ERROR_INVALID_ARGUMENTS unless FILES, which fit the schema of run_python, can be put
 * into any directory: their paths stay inside, differ and lead through few folders, each has one
 * content, and all of them have at most LIMIT bytes. FILES may be NULL. */
int provided_files_check(const json_t *files, uint64_t limit, struct error *err);

/* Puts FILES, which are checked, into DIRECTORY; see directory_file_put. FILES may be NULL. */
int provided_files_put(const json_t *files, const struct working_directory *directory,
                       struct error *err);
