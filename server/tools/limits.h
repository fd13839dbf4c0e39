/* What principals may do, by name, and how much of it they have done lately. It outlives the
 * principals: who goes and comes again has not forgotten its calls by that. */
#pragma once

#include "base/error.h"

struct limits;

/* What one may do. */
struct principal_limits {
    unsigned calls_per_minute;       /* in the long run; a third of it at once. 0: any number */
    unsigned concurrent_runs;        /* 0: as many as the server has places for */
    const char *const *environments; /* NULL-terminated; NULL: all */
};

struct limits *limits_new(void);
void limits_free(struct limits *limits);

/* What the principal NAME may do from now on; NULL: each that has no limits of its own. Copied.
 * Before that it may do everything. */
void limits_set(struct limits *limits, const char *name, const struct principal_limits *own);

/* Forgets what was set, but not what was done. */
void limits_clear(struct limits *limits);

/* Those of NAME. Borrowed until they are set or cleared. */
const struct principal_limits *limits_find(const struct limits *limits, const char *name);

/* Counts a call of NAME, unless there were too many: ERROR_BUSY says when to try again. */
int limits_admit_call(struct limits *limits, const char *name, struct error *err);

/* ERROR_INVALID_ARGUMENTS unless NAME may use ENVIRONMENT; it says which it may. NULL: one that a
 * call defines, which only those may who may use all. */
int limits_check_environment(const struct limits *limits, const char *name, const char *environment,
                             struct error *err);
