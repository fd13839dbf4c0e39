/* Environments that are replaced. Each is stopped when no run uses it any more, and freed when it
 * is idle. Both happen before the loop sleeps. */
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
    struct ev_prepare prepare; /* running while the list is not empty */
};

/* LOOP is borrowed. */
void retirement_init(struct retirement *retirement, struct ev_loop *loop);

/* Frees the environments that are left. They are idle, and no run uses them. */
void retirement_deinit(struct retirement *retirement);

/* Retires ENVIRONMENT (taken), which may be freed at once. */
void retirement_add(struct retirement *retirement, struct environment *environment);

/* Stops all of them; there are no more runs. */
void retirement_stop(struct retirement *retirement);
bool retirement_is_idle(const struct retirement *retirement);
