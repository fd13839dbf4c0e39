/* The environment of a script of `pyexecd run`: the environment that --env names, a virtual
 * environment with the packages and the Python that options or a block in the script (PEP 723)
 * name, or the default environment. */
#pragma once

#include "base/error.h"

struct code_cleaning;
struct environment;
struct options;
struct service;

/* Borrowed until the loop goes on, or as long as a run holds it; NULL with ERR. */
struct environment *script_environment_choose(const struct options *options,
                                              const struct code_cleaning *code,
                                              const struct service *service, struct error *err);
