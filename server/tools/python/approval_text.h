/* The text that a person reads before approving a script. */
#pragma once

#include <jansson.h>
#include <stddef.h>

struct environment;

/* The run to approve. Everything is borrowed. */
struct approval_subject {
    const struct environment *environment;
    const json_t *definition; /* if the call defines the environment, else NULL */
    double timeout;           /* seconds */
    const char *directory;    /* its working directory, described in words */
    const char *session;      /* its session, described in words; NULL: the code runs in a Python of
                                 its own */
    const json_t *files;      /* files that are put into the directory first, or NULL */
    const char *code;
    size_t length;
};

/* Describes the place of SUBJECT's script and the files and networks in its reach, and ends with
 * its code. Owned by the caller. */
char *approval_text(const struct approval_subject *subject);
