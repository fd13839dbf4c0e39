/* The level at which the runs of an environment are isolated, decided here alone, and before a run
 * is submitted: the working directory depends on it, and a person may be asked to agree to it. A
 * run is started at the level that it was submitted with, or it is refused.
 *
 * A sandbox that is optional (`isolation: auto`) is given up where the machine has none, and where
 * a working directory that is not ours does not go with one. */
#pragma once

#include "base/error.h"
#include "environments/interpreter/tool_sandbox.h"
#include "environments/process/isolation.h"
#include "environments/process/policy.h"

#include <jansson.h>

struct environment;

/* The level of the next run of ENVIRONMENT. */
enum isolation environment_isolation(const struct environment *environment);

/* Runs of ENVIRONMENT work in DIRECTORY, a real path; NULL: in directories of ours. */
void environment_work_in(struct environment *environment, const char *directory);

/* Why the next run of ENVIRONMENT goes without the sandbox that it would have, one text for each
 * thing that is missing. New reference; NULL when it has one, or when none is wanted. */
json_t *environment_given_up(const struct environment *environment);

/* True when the next sandbox of ENVIRONMENT is to have LAYER and will not, as far as is known. */
bool environment_lacks(const struct environment *environment, enum process_layer layer);

/* How the programs that prepare ENVIRONMENT are held: like its next run. Layers that they lack are
 * added to its `absent`. STATE is the state directory, or NULL. Both are borrowed. */
struct tool_holding environment_holding(struct environment *environment, const char *state);
