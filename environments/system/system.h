/* The environment of type "system": scripts run with a Python that is installed on this machine. */
#pragma once

#include "environments/environment.h"

/* Creating one never fails. Whether the interpreter is there is told by each run: it may be
 * installed later, and the other environments can be used meanwhile. */
extern const struct environment_kind system_kind;
