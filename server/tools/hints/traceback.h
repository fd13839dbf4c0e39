/* The exception that ended a script, read from Python's error output. */
#pragma once

#include <stdbool.h>

/* All NULL and 0 when there is none. */
struct traceback {
    char *type;            /* owned; "KeyError" */
    char *message;         /* owned; the text behind the type, its first line; may be "" */
    unsigned line;         /* the innermost line of script.py; 0: not known */
    bool is_own;           /* the exception was raised in `line`, or `line` is a syntax error */
    const char *innermost; /* borrowed; where the last frame begins, or NULL */
};

/* The last exception in ERRORS, the error output of a script, which is borrowed as long as RET is
 * used. */
void traceback_read(struct traceback *ret, const char *errors);
void traceback_deinit(struct traceback *traceback);
