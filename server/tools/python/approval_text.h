/* The text that a person reads before approving a script. */
#pragma once

#include "environments/environment_settings.h"

#include <jansson.h>
#include <stddef.h>

struct environment;

/* The run to approve. Everything is borrowed. */
struct approval_subject {
    const struct environment *environment;
    enum approval_policy least; /* asked at least, if the environment asks less */
    const json_t *definition;   /* if the call defines the environment, else NULL */
    double timeout;             /* seconds */
    const char *directory;      /* its working directory, described in words */
    const char *session;    /* its session, described in words; NULL: the code runs in a Python of
                               its own */
    const json_t *packages; /* that are installed for the session first, or NULL */
    const json_t *tools;    /* that it may call, as far as known: {server: [tool]}; or NULL */
    const json_t
        *foreseen; /* of these, as "server.tool": a yes to the code counts for them; or NULL */
    const json_t *files; /* files that are put into the directory first, or NULL */
    const char *code;
    size_t length;
};

/* Whether SUBJECT is asked about. */
enum approval_policy approval_subject_policy(const struct approval_subject *subject);

/* Describes the place of SUBJECT's script and the files and networks in its reach, and ends with
 * its code. Owned by the caller. */
char *approval_text(const struct approval_subject *subject);
