/* Environment variables that tell the script of an invocation its trace (W3C Trace Context). */
#pragma once

struct invocation;

struct trace_variables {
    char *parent;        /* owned */
    char *state;         /* owned; or NULL */
    const char *list[3]; /* NULL-terminated */
};

void trace_variables_init(struct trace_variables *variables, const struct invocation *invocation);
void trace_variables_deinit(struct trace_variables *variables);
