/* What a call of run_python says of itself to others: in the log, and in the variables of its
 * script. */
#pragma once

#include "server/tools/run_result.h"

struct invocation;

/* The log says what CALL was to run, in SETTING: which code, but not the code. */
void run_account_begin(struct invocation *call, const struct run_setting *setting);

/* The log says how it ended, as STRUCTURED, which is the result. */
void run_account_end(struct invocation *call, const json_t *structured);

/* Environment variables that say which trace CALL is part of (W3C Trace Context). */
struct trace_variables {
    char *parent;        /* owned, as the other one */
    char *state;         /* or NULL */
    const char *list[3]; /* NULL-terminated */
};

void trace_variables_init(struct trace_variables *variables, const struct invocation *call);
void trace_variables_deinit(struct trace_variables *variables);
