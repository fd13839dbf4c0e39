/* A feature of the kernel that this machine turned out not to have, and is tried again after a
 * while. A refusal counts only if it proves the absence: a quota that is used up does not. */
#pragma once

#include <stdbool.h>

struct absence {
    char *what;   /* owned: the refusal and its reason; NULL: none is known */
    double until; /* no attempt is made before; CLOCK_MONOTONIC seconds */
};

void absence_deinit(struct absence *absence);

/* True when errno NUMBER of a refusal proves that the machine lacks the feature, rather than a
 * shortage. */
bool absence_is_proven(int number);

/* Notes, with the text WHAT, that the feature was refused. */
void absence_note(struct absence *absence, const char *what);

/* Notes that the feature is there. */
void absence_end(struct absence *absence);

/* True when it is time to try again. */
bool absence_is_due(const struct absence *absence);
