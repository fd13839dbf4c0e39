/* A trial of an entry in the settings of a client: the command is started as the client starts it,
 * and asked who it is. */
#pragma once

#include "base/error.h"

#include <jansson.h>

/* COMMAND: the program and its arguments, an array of strings. -1 with ERROR_UNAVAILABLE when no
 * server answers within half a minute. */
int entry_trial_run(const json_t *command, struct error *err);
