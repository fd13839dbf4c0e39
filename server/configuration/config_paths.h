/* Paths in a configuration: relative ones start at the folder of its file, not at the server's
 * current directory. */
#pragma once

#include "base/schema/schema.h"

#include <jansson.h>

/* The absolute path of the folder that FILE is in. Owned by the caller; NULL when it has no such
 * path. */
char *config_paths_folder(const char *file);

/* The absolute path for the string VALUE of a schema's FORMAT, new; NULL when FORMAT is no format
 * of paths, or VALUE cannot be a path, which the schema reports. */
json_t *config_paths_read(const char *folder, const char *format, const json_t *value);

/* The fault of a PATH that begins with the home as a shell writes it: "~ is not read, ...".
 * NULL: it does not. Owned by the caller. */
char *config_paths_explain_home(const char *path);

/* REPORT is called for each key of `volumes` in ROOT that begins with the home in this way. */
void config_paths_check_volumes(json_t *root, schema_problem_fn report, void *data);

/* Makes the keys of `volumes` absolute in every environment of ROOT, which fits its schema. REPORT
 * is called for a key that becomes the same path as another key. */
void config_paths_settle_volumes(const char *folder, json_t *root, schema_problem_fn report,
                                 void *data);
