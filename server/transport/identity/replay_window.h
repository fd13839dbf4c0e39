/* A record of the numbers that a sender has used lately: none is accepted twice, in whatever order
 * they come. A sender begins again with a later epoch. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { REPLAY_WINDOW_NUMBERS = 8192 }; /* further back, all count as used */

struct replay_window {
    int64_t epoch;
    uint64_t newest;
    uint64_t used[REPLAY_WINDOW_NUMBERS / 64]; /* of each number, a bit at its rest */
};

/* Uses NUMBER, 1 or more, of EPOCH. False: it was used before, or is too old to know. */
bool replay_window_take(struct replay_window *window, int64_t epoch, uint64_t number);
