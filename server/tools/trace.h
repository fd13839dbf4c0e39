/* W3C Trace Context, level 1: the trace of the client that a call belongs to. The server adds a
 * span of its own. */
#pragma once

#include <stdbool.h>

struct invocation;

enum {
    TRACE_PARENT_BYTES = 56, /* 55 characters and a NUL */
    TRACE_ID_DIGITS = 32,
    TRACE_STATE_BYTES = 513, /* the characters that everybody must pass on, and a NUL */
};

struct trace {
    char parent[TRACE_PARENT_BYTES]; /* "00-TRACE-SPAN-FLAGS" with our span; "": no trace */
    char state[TRACE_STATE_BYTES];   /* "" for none */
};

/* Begins TRACE as a child of `traceparent` PARENT with `tracestate` STATE; either may be NULL.
 * False, and no trace, if PARENT is not valid; an invalid STATE is left out. */
bool trace_follow(struct trace *trace, const char *parent, const char *state);

/* Copies the trace id out of `traceparent` PARENT, which is valid. */
void trace_read_id(const char *parent, char ret_id[TRACE_ID_DIGITS + 1]);

/* Environment variables that tell the script of an invocation its trace. */
struct trace_variables {
    char *parent;        /* owned */
    char *state;         /* owned; or NULL */
    const char *list[3]; /* NULL-terminated */
};

void trace_variables_init(struct trace_variables *variables, const struct invocation *invocation);
void trace_variables_deinit(struct trace_variables *variables);
