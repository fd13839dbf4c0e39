/* The request states that have been used, kept until they expire.
 *
 * They are counted for each principal. When USED_STATES of them are remembered, the oldest state of
 * the principal with the most states is forgotten, and from then on its states of that age are
 * refused. So no state can be used twice, and no principal loses a state to the states of
 * another. */
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
 * set, like NOW. False: it was used before, has expired, or is as old as a forgotten state. */
bool used_states_take(struct used_states *states, const char *principal, const char *nonce,
                      int64_t made, int64_t now);
