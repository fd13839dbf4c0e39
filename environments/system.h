/* The environment of type "system": scripts run with a Python that is installed on this machine. */
#pragma once

#include "environments/environment.h"

/* NULL when there is no such interpreter: ERR says why, *RET_KEY which key of the definition is to
 * blame. That there is none on PATH is told by each run instead: one may be installed later. */
struct environment *system_environment_new(struct environment_recipe *recipe, const char **ret_key,
                                           struct error *err);
