/* What is prepared ahead of time, so that a start need not wait for it: spares, by key.
 *
 * The key says what a spare is good for: whoever takes one gets what it would have made itself. A
 * maker makes the spares of one key and says how many are kept; each is used once, and another one
 * is made behind the start that took it. */
#pragma once

#include "base/list.h"

#include <ev.h>

/* Embedded in what is prepared. */
struct spare {
    struct list link; /* among those of its maker, until it is taken or withdrawn */
};

struct spare_maker {
    const char *key; /* borrowed */
    unsigned count;  /* how many are kept */

    /* Begins to prepare one, never from inside another call. NULL when that cannot be done: it is
     * tried again behind the next start. */
    struct spare *(*make)(struct spare_maker *maker);

    /* Private. */
    struct list link;  /* in struct spares */
    struct list ready; /* of struct spare, being prepared too */
};

struct spares {
    struct ev_loop *loop; /* borrowed */
    struct list makers;
    ev_timer refill;
};

void spares_init(struct spares *spares, struct ev_loop *loop);

/* Nothing more is made. What there is belongs to who embeds it. */
void spares_deinit(struct spares *spares);

/* From now on MAKER (borrowed) keeps its spares. */
void spares_add(struct spares *spares, struct spare_maker *maker);

/* A spare for KEY, the oldest, or NULL when there is none; another one is made soon. */
struct spare *spares_take(struct spares *spares, const char *key);

/* Makes what is missing, soon. */
void spares_refill(struct spares *spares);

void spare_init(struct spare *spare);

/* SPARE is good for nothing any more; harmless when it has been taken. */
void spare_withdraw(struct spare *spare);
