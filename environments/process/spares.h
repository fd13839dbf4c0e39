/* Spares: processes that are prepared ahead of time, so that a start need not wait for them.
 *
 * Spares with one key are all alike, and a start that wants such a process may take any of them.
 * A maker makes the spares of one key and says how many are kept. Each spare is used once, and
 * another one is made shortly after the start that took it. */
#pragma once

#include "base/list.h"

#include <ev.h>

/* Embedded in the structure of a prepared process. */
struct spare {
    struct list link; /* in `ready` of its maker, until it is taken or withdrawn */
};

struct spare_maker {
    const char *key; /* borrowed */
    unsigned count;  /* how many are kept */

    /* Begins to prepare a spare; called from the loop only. NULL when this is impossible now: it is
     * tried again after the next start. */
    struct spare *(*make)(struct spare_maker *maker);

    /* Private. */
    struct list link;  /* in struct spares */
    struct list ready; /* of struct spare: prepared, or being prepared */
};

struct spares {
    struct ev_loop *loop; /* borrowed */
    struct list makers;
    ev_timer refill;
};

void spares_init(struct spares *spares, struct ev_loop *loop);

/* Makes no more spares. Existing spares belong to the structures that embed them. */
void spares_deinit(struct spares *spares);

/* From now on MAKER (borrowed) keeps its spares. */
void spares_add(struct spares *spares, struct spare_maker *maker);

/* The oldest spare with KEY, or NULL when there is none. Another one is made soon. */
struct spare *spares_take(struct spares *spares, const char *key);

/* Makes missing spares, soon. */
void spares_refill(struct spares *spares);

void spare_init(struct spare *spare);

/* SPARE cannot be used any more; harmless when it has been taken. */
void spare_withdraw(struct spare *spare);
