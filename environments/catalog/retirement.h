/* Environments that have to go: one is stopped as soon as no run has it, and freed as soon as it
 * holds nothing any more. Both happen before the loop sleeps. */
#pragma once

#include "base/list.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct environment;

struct retirement {
    struct ev_loop *loop; /* borrowed */
    struct list going;    /* of struct retired */
    size_t count;
    struct ev_prepare prepare; /* running while some are going */
};

/* LOOP is borrowed. */
void retirement_init(struct retirement *retirement, struct ev_loop *loop);

/* Frees those that are still there; no run has them, and they are idle. */
void retirement_deinit(struct retirement *retirement);

/* ENVIRONMENT (taken) has to go; at once if it can. */
void retirement_add(struct retirement *retirement, struct environment *environment);

/* All of them give up what they hold; no run is going any more. */
void retirement_stop(struct retirement *retirement);
bool retirement_is_idle(const struct retirement *retirement);
