/* The environment of type "venv": scripts run with the Python of a virtual environment, which is
 * the operator's, or is created: where the operator says, or in the state directory.
 *
 *     STATE/venvs/KEY/           by what they were made from; one in use is locked, shared
 *     STATE/venvs/.new-KEY/      see builder.h
 *     STATE/pythons/             see base_python.h */
#pragma once

#include "environments/environment.h"

/* Creating one fails when a package that is asked for is none. Anything else is told by the
 * preparation. */
extern const struct environment_kind venv_kind;
