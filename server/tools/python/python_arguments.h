/* The arguments that all tools that run Python have in common: environment, timeout and working
 * directory. The code is an argument of each tool. */
#pragma once

#include "server/tools/python/python_request.h"

#include <jansson.h>

struct python_offer;

/* Completes the input schema of such a tool, which has the properties `environment` and `timeout`:
 * fills in the environments and limits of OFFER, and adds `environment_definition` if calls may
 * define one. */
void python_arguments_describe(json_t *schema, const struct python_offer *offer);

/* The same in a few words, for a tool of many runs, whose `timeout` is SECONDS: models pay for
 * every word, and `run_python` has the rest. */
void python_arguments_refer(json_t *schema, const struct python_offer *offer, const char *seconds);

/* Reads ARGUMENTS, which fit that schema. The caller sets the code. */
struct python_request python_arguments_read(const json_t *arguments);
