/* The environment of type "venv": scripts run with the Python of a virtual environment, which is
 * the operator's, or is created: where the operator says, or in the state directory.
 *
 *     STATE/venvs/KEY/           by what they were made from; one in use is locked, shared
 *     STATE/venvs/.new-KEY/      see builder.h
 *     STATE/pythons/             see base_python.h */
#pragma once

#include "environments/environment.h"

/* One of the table of kinds in catalog.c. NULL with ERR when a package that is asked for is none;
 * everything else is told by the preparation. */
struct environment *venv_environment_new(struct environment_recipe *recipe, const char **ret_key,
                                         struct error *err);
