/* Which request states have been used, for as long as they would still be good.
 *
 * They are counted for each principal. When USED_STATES of them are remembered, the principal that
 * has the most forgets its oldest, and from then on its states that are as old are refused: so none
 * can be used twice, and nobody loses a state because of what others have used. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    USED_STATES = 8192, /* of all principals together */
    USED_STATES_NONCE_DIGITS = 32,
};

struct used_states;

/* States are good for SECONDS. */
struct used_states *used_states_new(int64_t seconds);
void used_states_free(struct used_states *states);

/* Uses the state NONCE of PRINCIPAL, which was made at MADE, in seconds of a clock that is never
 * set, as is NOW. False: it was used before, or nobody can know. */
bool used_states_take(struct used_states *states, const char *principal, const char *nonce,
                      int64_t made, int64_t now);
