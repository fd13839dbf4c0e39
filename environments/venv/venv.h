/* The environment of type "venv": scripts run with the Python of a virtual environment. It is the
 * operator's, or is created at the operator's path or in the state directory.
 *
 *     STATE/venvs/KEY/           by a digest of definition and packages; locked while in use
 *     STATE/venvs/.new-KEY/      see builder.h
 *     STATE/pythons/             see base_python.h */
#pragma once

#include "environments/environment.h"

/* Creating an environment fails if a requested package is not a valid requirement. The preparation
 * reports all other errors. */
extern const struct environment_kind venv_kind;
