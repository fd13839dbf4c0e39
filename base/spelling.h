/* "did you mean ...?": the nearest of a list of names. */
#pragma once

#include <stddef.h>

/* A search: SPELLING_INIT, then spelling_try for each candidate, then `nearest`. */
struct spelling {
    const char *wrong;   /* borrowed: what was written */
    const char *nearest; /* borrowed: the best candidate, NULL when none is near */
    size_t distance;     /* of the nearest; a farther one is not taken */
};

enum {
    SPELLING_DISTANCE = 2,
    SPELLING_LONGEST = 64, /* bytes; nobody mistypes a longer name in two places only */
};

#define SPELLING_INIT(WRONG)                                                                       \
    {                                                                                              \
        .wrong = (WRONG), .distance = SPELLING_DISTANCE + 1                                        \
    }

/* Takes CANDIDATE as the nearest when other programs call it by the wrong name ("packages" for
 * pip_packages), or when it is at most two edits away (of which fewer than its length: "ab" is no
 * spelling of "x") and nearer than the candidates before. */
void spelling_try(struct spelling *spelling, const char *candidate);

/* The number of characters to insert, delete, replace or swap with their neighbour to make TO of
 * FROM. Neither has more than SPELLING_LONGEST bytes. */
size_t spelling_distance(const char *from, const char *to);
