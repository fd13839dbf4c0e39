/* The schemas of the tools that run Python, as they are built into the program (schemas/). */
#pragma once

#include <jansson.h>

/* A copy of schemas/NAME.json. New reference. */
json_t *python_schema_built_in(const char *name);

/* The same of a tool with many runs: the `result` of each item of its array LIST has the schema of
 * run_python's results. New reference. */
json_t *python_schema_of_runs(const char *name, const char *list);
