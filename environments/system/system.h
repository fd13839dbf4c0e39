/* The environment of type "system": scripts run with a Python that is installed on this machine. */
#pragma once

#include "environments/environment.h"

/* One of the table of kinds in catalog.c; this one never fails. Whether the interpreter is there is
 * told by each run: it may be installed later, and the other environments can be used meanwhile. */
struct environment *system_environment_new(struct environment_recipe *recipe, const char **ret_key,
                                           struct error *err);
