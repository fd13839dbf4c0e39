/* The arguments that all tools have that run Python: where it runs, for how long, in which
 * directory. What is to run is each tool's own. */
#pragma once

#include "server/tools/python_request.h"

#include <jansson.h>

struct python_settings;

/* Fills in what depends on SETTINGS in the input schema of such a tool, which has the properties
 * `environment` and `timeout`: the environments with their limits, and the definition of one where
 * calls may have it. */
void python_arguments_describe(json_t *schema, const struct python_settings *settings);

/* What ARGUMENTS, which fit that schema, ask for; the code is still to be set. */
struct python_request python_arguments_read(const json_t *arguments);
