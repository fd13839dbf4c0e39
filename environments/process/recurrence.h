/* Who is likely to come again with the same command but for its code, such as a connection, and
 * what is kept ready for that. */
#pragma once

#include "base/list.h"

/* Embedded in who may come again; it outlives nothing that is kept. */
struct recurrence {
    struct list kept; /* of struct recurrent */
};

/* Embedded in what is kept. */
struct recurrent {
    struct list link; /* in `kept`, until it is forgotten */

    /* Nobody will come for it. */
    void (*forget)(struct recurrent *recurrent);
};

void recurrence_init(struct recurrence *recurrence);

/* Forgets all that is kept. */
void recurrence_end(struct recurrence *recurrence);

/* RECURRENT, whose `forget` is set, is kept for RECURRENCE. */
void recurrence_keep(struct recurrence *recurrence, struct recurrent *recurrent);

/* RECURRENT, whose `forget` is set, is kept as long as OTHER. */
void recurrence_keep_with(struct recurrent *other, struct recurrent *recurrent);

/* It is not kept any more. */
void recurrent_withdraw(struct recurrent *recurrent);
