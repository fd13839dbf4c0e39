/* What a person reads who is asked whether a script may run. */
#pragma once

#include <jansson.h>
#include <stddef.h>

struct environment;

/* What is asked about. Borrowed. */
struct approval_subject {
    const struct environment *environment;
    const json_t *definition; /* that the call has brought along for it, or NULL */
    double timeout;           /* seconds */
    const char *directory;    /* where the script works, in words */
    const char *code;
    size_t length;
};

/* Where the script of SUBJECT runs, what it may reach, and last of all its code. Owned by the
 * caller. */
char *approval_text(const struct approval_subject *subject);
