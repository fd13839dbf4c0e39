/* W3C Trace Context, level 1: what a call is part of in the traces of its client. We add a span of
 * our own between the client and what the call does. */
#pragma once

#include <stdbool.h>

enum {
    TRACE_PARENT_BYTES = 56, /* 55 characters and a NUL */
    TRACE_ID_DIGITS = 32,
    TRACE_STATE_BYTES = 513, /* as many characters as everybody is to hand on, and a NUL */
};

struct trace {
    char parent[TRACE_PARENT_BYTES]; /* "00-TRACE-SPAN-FLAGS", the span being ours; "": no trace */
    char state[TRACE_STATE_BYTES];   /* "" for none */
};

/* Begins TRACE as a child of what the texts `traceparent` and `tracestate` say; either may be NULL.
 * False, and no trace, when the first is not valid; a `tracestate` that is not is left out. */
bool trace_follow(struct trace *trace, const char *parent, const char *state);

/* Copies the trace id out of `traceparent` PARENT, which is valid. */
void trace_read_id(const char *parent, char ret_id[TRACE_ID_DIGITS + 1]);
