/* A feature of the kernel that this machine turned out not to have, and is tried again after a
 * while. A refusal counts only where it proves that: a quota that somebody has used up is not
 * absence. */
#pragma once

#include <stdbool.h>

struct absence {
    char *what;   /* owned: what was refused and why; NULL: nothing, as far as is known */
    double until; /* it need not be tried before; CLOCK_MONOTONIC seconds */
};

void absence_deinit(struct absence *absence);

/* True when a refusal with errno NUMBER comes from how the machine is, and not from what is in use.
 */
bool absence_is_proven(int number);

/* Notes that the feature was refused, as WHAT says. */
void absence_note(struct absence *absence, const char *what);

/* The feature has been had. */
void absence_end(struct absence *absence);

/* True when it is time to try again. */
bool absence_is_due(const struct absence *absence);
