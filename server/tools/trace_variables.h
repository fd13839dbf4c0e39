/* Environment variables that say which trace an invocation is part of (W3C Trace Context), for its
 * script. */
#pragma once

struct invocation;

struct trace_variables {
    char *parent;        /* owned, as the other one */
    char *state;         /* or NULL */
    const char *list[3]; /* NULL-terminated */
};

void trace_variables_init(struct trace_variables *variables, const struct invocation *invocation);
void trace_variables_deinit(struct trace_variables *variables);
