/* Stands in for a JSON-RPC session, so that a test decides when calls end. A line is a command:
 *
 *     echo TEXT     is answered with TEXT at once
 *     fill COUNT    is answered with COUNT bytes at once
 *     call          is answered when the test says so
 *
 * and every line is counted. */
#pragma once

#include "server/jsonrpc/session.h"

struct session_double {
    struct session *session; /* borrowed: the one that was initialised last */
    char principal[32];
    char last_line[128];
    size_t last_length;
    unsigned lines;
    unsigned refused; /* lines that were too long */
    unsigned live;    /* sessions */
    size_t cancelled; /* calls */
};

extern struct session_double session_double;

/* Forgets everything; no session may be left. */
void session_double_reset(void);

/* Ends one call of the session that was initialised last, with TEXT. */
void session_double_answer(const char *text);
