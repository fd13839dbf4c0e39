/* The environment of a script of `pyexecd run` and `pyexecd map`: the environment that --env names,
 * a virtual environment with the packages and the Python that options or a block in the script (PEP
 * 723) name, or the default environment. */
#pragma once

#include "base/error.h"

struct code_cleaning;
struct options;
struct run_setting;
struct service;

/* That environment, borrowed until the loop goes on or as long as a run holds it, and the time
 * limit of OPTIONS. */
int script_environment_set(const struct options *options, const struct code_cleaning *code,
                           const struct service *service, struct run_setting *ret,
                           struct error *err);
