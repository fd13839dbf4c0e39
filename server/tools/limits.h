/* Limits of principals by name, and their recent calls. They outlive the principals, so that a
 * client cannot reset its count by connecting again. */
#pragma once

#include "base/error.h"

struct limits;

/* The limits of one principal. */
struct principal_limits {
    unsigned calls_per_minute;       /* on average; a third of it at once. 0: no limit */
    unsigned concurrent_runs;        /* 0: limited by the server only */
    const char *const *environments; /* NULL-terminated; NULL: all */
    const char *const *tools;        /* the servers of tools; likewise */
};

struct limits *limits_new(void);
void limits_free(struct limits *limits);

/* Sets the limits of the principal NAME, or, for NULL, of all principals without limits of their
 * own. Copied. Without any limits everything is allowed. */
void limits_set(struct limits *limits, const char *name, const struct principal_limits *own);

/* Removes all limits, but keeps the counts. A name that had its own, and gets none again, may be
 * that of clients who are there still: they keep theirs, and reach no tools. */
void limits_clear(struct limits *limits);

/* The limits of NAME. Borrowed until they are set or cleared. */
const struct principal_limits *limits_find(const struct limits *limits, const char *name);

/* Counts a call of NAME. ERROR_BUSY: there were too many; the message says when to try again. */
int limits_admit_call(struct limits *limits, const char *name, struct error *err);

/* Fails with ERROR_INVALID_ARGUMENTS unless NAME may use ENVIRONMENT; the message lists the
 * environments that it may use. NULL is an environment that a call defines, which only principals
 * without a list may use. */
int limits_check_environment(const struct limits *limits, const char *name, const char *environment,
                             struct error *err);
